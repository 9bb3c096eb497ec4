"""PostgreSQL and Redis as children of `make run`, from the binaries of two wheels."""
