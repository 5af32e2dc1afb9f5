from datetime import time, timedelta

tools.stations.set_report_time(station="hill", at=time(0, 0), every=timedelta(minutes=90)).unwrap()
