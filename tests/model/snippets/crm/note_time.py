note = tools.crm.add_note(contact_id="c6", text="met").unwrap()
when = note["written_at"]
f"{when:%H:%M} on {when.day} {when:%B}"
