match tools.crm.contact(id="c99"):
    case Ok(contact):
        value = contact
    case Err(error):
        value = error.code

value
