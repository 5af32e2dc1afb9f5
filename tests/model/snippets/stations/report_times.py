import asyncio

async def report_time(key):
    uptime = (await tools.stations.uptime.start(station=key)).unwrap()
    return uptime["report_daily_at"].strftime("%H:%M")

async def main():
    keys = [s["key"] for s in tools.stations.list().unwrap()]
    async with asyncio.TaskGroup() as tg:
        tasks = {key: tg.create_task(report_time(key)) for key in keys}
    return {key: task.result() for key, task in tasks.items()}

await main()
