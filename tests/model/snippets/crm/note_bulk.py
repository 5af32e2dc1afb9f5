import asyncio

ids = ["c1", "c2", "c3", "c5"]
results = await asyncio.gather(
    *[tools.crm.add_note.start(contact_id=cid, text="call back") for cid in ids]
)
notes = [r.unwrap() for r in results]
for note in notes:
    print(f"{note['contact_id']}: {note['text']} ({note['written_at']:%Y-%m-%d %H:%M})")

len(notes)
