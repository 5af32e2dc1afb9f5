"""The agent: a model writes snippets, the app runs them, and the answer is grounded in receipts."""
