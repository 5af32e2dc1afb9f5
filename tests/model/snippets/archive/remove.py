removed = 0
for letter in tools.archive.entries(folder="letters").unwrap():
    match tools.archive.remove(path=letter["path"]):
        case Ok(True):
            removed += 1
        case Ok(False):
            print(f"{letter['path']} was already gone")
        case Err(error):
            print(f"{letter['path']}: {error.code} {error.message}")

removed
