match tools.stations.readings(station="fen"):
    case Ok(readings):
        value = readings
    case Err(error):
        value = [error.code, error.hint]
value
