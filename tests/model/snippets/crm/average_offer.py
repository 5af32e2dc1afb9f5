from statistics import mean

amounts = [deal["amount"] for deal in tools.crm.deals(stage="offer").unwrap()]
round(mean(amounts), 2)
