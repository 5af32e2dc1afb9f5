# The assistant uses what it wrote.
WEBSITE = "example.org"

seen = tools.posthog_custom.analytics.getVisitors(project_id="17", website=WEBSITE).unwrap()
print(seen["visitors"], "visitors of", WEBSITE, "in the last day")

threshold = seen["visitors"] * 0.8
match tools.posthog_custom.monitor.createThresholdJob(website=WEBSITE, threshold=threshold, cron="0 * * * *"):
    case Ok(job):
        print("monitor", job["job_id"], "tells when there are fewer than", job["threshold"])
    case Err(code):
        print("no monitor:", code)
