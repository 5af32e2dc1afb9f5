from operator import itemgetter

people = tools.staff.people().unwrap()
oldest = min(people, key=itemgetter("birthday"))
[oldest["name"], oldest["birthday"].year]
