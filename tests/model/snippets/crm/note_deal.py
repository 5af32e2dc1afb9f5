deal = min(tools.crm.deals().unwrap(), key=lambda d: d["closes_on"])
day = deal["closes_on"]
text = f"Closes on {day.day} {day.strftime('%B %Y')}: {deal['title']}"

tools.crm.add_note(contact_id=deal["contact_id"], text=text).unwrap()["contact_id"]
