"""What somebody noted on purpose."""
