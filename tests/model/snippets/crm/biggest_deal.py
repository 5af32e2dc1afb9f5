match tools.crm.deals():
    case Ok(deals):
        biggest = max(deals, key=lambda d: d["amount"])
        answer = [biggest["title"], biggest["amount"]]
    case Err(error):
        print(f"Could not get the deals: {error.code}: {error.message}")
        answer = None

answer
