"""What a team's rules say, what they concern, and what the code shows of them."""
