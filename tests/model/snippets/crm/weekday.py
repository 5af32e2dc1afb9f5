from collections import Counter
import calendar

dict(Counter(calendar.day_name[d["closes_on"].weekday()] for d in tools.crm.deals().unwrap()))
