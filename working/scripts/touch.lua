-- Renews the session's hold.
touch()
return {DONE}
