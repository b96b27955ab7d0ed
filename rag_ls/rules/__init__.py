"""The rules of a team: what they say, what they concern, and what the code shows of them."""
