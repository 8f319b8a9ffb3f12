"""Local pages over HTTP: what `serve` and `review` share. It needs starlette and uvicorn."""
