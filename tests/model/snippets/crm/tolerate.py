failed = []
for contact_id in ["c0", "c77", "c1"]:
    try:
        tools.crm.add_note(contact_id=contact_id, text="hello").unwrap()
    except ToolCallError as e:
        print(f"{contact_id}: {e}")
        failed.append(contact_id)

failed
