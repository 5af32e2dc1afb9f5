from datetime import date

deals = tools.crm.deals(closing_before=date(2026, 12, 1)).unwrap()
len([d for d in deals if d["closes_on"] >= date(2026, 11, 1)])
