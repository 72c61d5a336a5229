"""The hold-out: written before the rules were tuned, and not used to tune them."""
# ruff: noqa: E501  # one entry a line reads best

from __future__ import annotations

import json

from tests.secrets.corpus import Entry, at, body, hexadecimal, jwt, packed, run, uuid

CLEAN: list[Entry] = [
    run("playwright", "npx", "@playwright/mcp@latest", "--browser", "chrome", "--viewport-size", "1280,720"),
    run("everything", "npx", "-y", "@modelcontextprotocol/server-everything", "stdio"),
    run("docker-mount", "docker", "run", "-i", "--rm", "--mount", "type=bind,src=/Users/me,dst=/projects", "mcp/fs"),
    run("kubectl", "uvx", "mcp-kubernetes", "--kubeconfig", "~/.kube/config", "--context", "prod-eu-west-1"),
    run("bigquery", "uvx", "bigquery-mcp", "--project", "my-project-415209", "--location", "europe-west3"),
    run("bigquery-creds", "uvx", "bigquery-mcp", "--credentials", "/home/me/keys/service-account.json"),
    run("snowflake", "uvx", "snowflake-mcp", "--account", "xy12345.eu-central-1", "--private-key-path", "/k/rsa_key.p8"),
    run("elastic", "docker", "run", "-i", "--rm", "-e", "ES_URL", "-e", "ES_API_KEY", "elastic/mcp", "stdio"),
    run("grafana", "mcp-grafana", "-t", "stdio", "--disable-oncall", "--debug"),
    run("sentry", "npx", "@sentry/mcp-server@0.17.1", "--access-token=sentry-user-token", "--host=sentry.example.com"),
    run("brave", "docker", "run", "-i", "--rm", "-e", "BRAVE_API_KEY=${BRAVE_API_KEY}", "mcp/brave-search"),
    run("jira", "uvx", "mcp-atlassian", "--jira-url", "https://acme.atlassian.example", "--jira-token", "your_api_token"),
    run("twilio", "npx", "-y", "@twilio-alpha/mcp", "YOUR_ACCOUNT_SID/YOUR_API_KEY:YOUR_API_SECRET"),
    run("stripe", "npx", "-y", "@stripe/mcp", "--tools=all", "--api-key=sk_test_..."),
    run("hf", "npx", "mcp-remote", "https://huggingface.example/mcp", "--header", "Authorization: Bearer <HF_TOKEN>"),
    run("keychain", "acme-mcp", "--api-key", "keychain:acme/api-key"),
    run("keys", "redis-mcp", "--key-prefix", "session:", "--sort-key", "created_at", "--primary-key", "user_id"),
    run("tokenizer", "acme-mcp", "--tokenizer", "cl100k_base", "--token-limit", "8192", "--tokens", "4096"),
    run("sha", "acme-mcp", "--expected", f"sha256:{hexadecimal('h', 64)}", "--commit", hexadecimal("hc", 40)),
    run("pass", "acme-mcp", "--passthrough", "--pass-env", "HOME,PATH", "--secretless"),
    at("gateway", "https://gateway.example.com/mcp/v1/tenants/acme-prod-eu/servers/billing-reports-2024"),
    at("drive", "https://mcp.example.com/mcp?drive=0AFolderName&features=docs,sheets&tokenizer=cl100k"),
    at("ip", "http://127.0.0.1:8931/sse"),
    at("cf", "https://observability.mcp.cloudflare.example/sse?accountId=" + hexadecimal("cf", 32)),
]  # fmt: skip

_A = body("holdout-a", 32)
_B = "Tr0ub4dor&3"
_C = hexadecimal("holdout-c", 32)

LEAKING: list[Entry] = [
    run("apify", "npx", "-y", "@apify/mcp", "--token", "apify_api_" + body("ap", 36), secret="apify_api_" + body("ap", 36)),
    run("context7", "npx", "-y", "@upstash/context7-mcp", "--api-key", "ctx7sk-" + uuid("ctx"), secret=uuid("ctx")),
    run("supabase", "npx", "-y", "@supabase/mcp", "--access-token", "sbp_" + _C, secret=_C),
    run("twilio", "npx", "-y", "@twilio/mcp", f"AC{_C}/SK{hexadecimal('tw', 32)}:{_A}", secret=_A),
    run("airtable", "npx", "-y", "airtable-mcp", f"pat{body('at', 14)}.{hexadecimal('at', 64)}", secret=hexadecimal("at", 64)),
    run("neo4j", "uvx", "neo4j-mcp", "--username", "neo4j", "--password", _B, secret=_B),
    run("mssql", "docker", "run", "-e", f"MSSQL_SA_PASSWORD={_B}", "mcp/mssql", secret=_B),
    run("pgpassword", "sh", "-c", f"PGPASSWORD='{_B}' pg-mcp --host db", secret=_B),
    run("cmd-set", "cmd", "/c", f"set API_KEY={_A}&& npx -y acme", secret=_A),
    run("powershell", "powershell", "-Command", f"$env:ACME_TOKEN='{_A}'; acme-mcp", secret=_A),
    run("mcp-remote-xkey", "npx", "mcp-remote", "https://a.example/mcp", "--header", f"x-goog-api-key: {_A}", secret=_A),
    run("headers-json", "proxy", "--headers", json.dumps({"X-Auth-Token": _A}), secret=_A),
    run("python-dict", "proxy", "--opts", "{'password': '" + _B + "'}", secret=_B),
    run("mysql-url", "uvx", "mysql-mcp", f"mysql://root:{_A}@127.0.0.1:3306/app", secret=_A),
    run("amqp", "uvx", "mq", "--broker", f"amqps://svc:{_A}@mq.example.com/vhost", secret=_A),
    run("proxy-user", "acme", "--proxy", f"http://me:{_A}@proxy.example:8080", secret=_A),
    run("license", "acme", "--license-key", "ABCD-1234-EFGH-5678", secret="ABCD-1234-EFGH-5678"),
    run("bot", "acme", "--bot-token", body("d1", 24) + "." + body("d2", 6) + "." + body("d3", 27), secret=body("d3", 27)),
    run("t-value", "acme", "-t", _A, secret=_A),
    run("positional-hex", "acme", _C, secret=_C),
    run("positional-password", "acme", "db.example.com", "sa", "Winter2024!", secret="Winter2024!"),
    run("webhook", "acme", "--webhook", "https://hooks.slack.com/services/T0/B0/" + body("wh", 24), secret=body("wh", 24)),
    run("s-jwt", "acme", f"--session={jwt('s')}", secret=jwt("s")),
    run("passphrase", "acme", "--ssh-passphrase", "open sesame", secret="open sesame"),
    run("wrapped", "npx", "-y", "supergateway", "--stdio", f"acme-mcp --api-key {_A}", secret=_A),
    at("query-token", f"https://mcp.example.com/sse?token={_A}", _A),
    at("query-pw", f"https://mcp.example.com/sse?user=a&pwd={_B.replace('&', '')}", _B.replace("&", "")),
    at("query-bearer", f"https://mcp.example.com/sse?bearer={_A}", _A),
    at("query-subscription", f"https://api.example.com/mcp?subscription-key={_C}", _C),
    at("config-url", "https://s.example/mcp?config=" + packed(token=_A, region="eu"), packed(token=_A, region="eu")),
    at("path-key", f"https://mcp.example.com/k/{_A}/sse", _A),
    at("user-only", f"https://{_A}@mcp.example.com/sse", _A),
]  # fmt: skip
