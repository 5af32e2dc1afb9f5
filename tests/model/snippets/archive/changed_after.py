from datetime import datetime, timezone

cutoff = datetime(2026, 11, 10, tzinfo=timezone.utc)
match tools.archive.entries(modified_after=cutoff):
    case Ok(entries):
        paths = [e["path"] for e in entries]
    case Err(error):
        paths = f"{error.code}: {error.message}"

paths
