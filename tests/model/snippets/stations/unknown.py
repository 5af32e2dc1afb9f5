result = tools.stations.uptime(station="moon")
match result:
    case Ok(uptime):
        answer = str(uptime["running_for"])
    case Err(error):
        answer = error.message
answer
