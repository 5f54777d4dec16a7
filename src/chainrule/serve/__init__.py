"""A finished run as a prediction service: JSON over HTTP.

    chainrule serve runs/mlp-1 --port 8500

    POST /predict        {"rows": [{"age": 31, "city": "Oslo"}]}  →  {"predictions": [...]}
    GET  /health         whether it answers, and for which run
    GET  /metrics        counters and latencies in the text format of Prometheus
    GET  /openapi.json   the interface; GET / is a page to try it

Requests that arrive together are answered by one forward pass (`batching`). Bad input gets status
422 and one sentence.
"""
