"""Server entries in the shapes that READMEs print: honest ones, ones with a secret, and a hold-out of both.

Every secret is made here from a seed, so no file holds one. The hold-out was written before the rules were tuned on the
first two lists.
"""
# ruff: noqa: E501  # one entry a line reads best

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass

ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def body(seed: str, length: int, alphabet: str = ALNUM) -> str:
    """Return `length` characters that look random and are always the same."""
    out = ""
    block = seed
    while len(out) < length:
        block = hashlib.sha256(block.encode()).hexdigest()
        out += "".join(alphabet[int(block[i : i + 4], 16) % len(alphabet)] for i in range(0, 64, 4))
    return out[:length]


def hexadecimal(seed: str, length: int) -> str:
    return body(seed, length, "0123456789abcdef")


def uuid(seed: str) -> str:
    digits = hexadecimal(seed, 32)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def jwt(seed: str) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": seed, "role": "service_role"})
    packed = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*packed, body(seed, 43)])


def packed(**values: str) -> str:
    return base64.b64encode(json.dumps(values).encode()).decode()


@dataclass(frozen=True)
class Entry:
    """One server; `secret` is the value that nothing may repeat, "" for an honest entry."""

    id: str
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    secret: str = ""

    def server(self) -> dict[str, object]:
        return {"url": self.url} if self.url else {"command": self.command, "args": list(self.args)}


def run(name: str, command: str, *args: str, secret: str = "") -> Entry:
    return Entry(name, command, args, secret=secret)


def at(name: str, url: str, secret: str = "") -> Entry:
    return Entry(name, url=url, secret=secret)


CLEAN = [
    run("filesystem", "npx", "-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop", "/path/to/other"),
    run("github-docker", "docker", "run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/gh-mcp"),
    run("postgres", "npx", "-y", "@modelcontextprotocol/server-postgres", "postgresql://localhost/mydb"),
    run("git", "uvx", "mcp-server-git", "--repository", "path/to/git/repo"),
    run("pinned-commit", "uvx", "--from", f"git+https://github.com/acme/mcp@{hexadecimal('c1', 40)}", "acme-mcp"),
    run("pinned-image", "docker", "run", "-i", "--rm", f"mcp/fetch@sha256:{hexadecimal('d1', 64)}"),
    run("max-tokens", "npx", "-y", "summarise-mcp", "--max-tokens", "100", "--model", "claude-sonnet-4-20250514"),
    run("docker-user", "docker", "run", "-i", "--rm", "-u", "1000:1000", "mcp/time"),
    run("author", "uvx", "mcp-notes", "--author", "me", "--key-column", "id"),
    run("bare-e", "docker", "run", "-i", "--rm", "-e", "SLACK_BOT_TOKEN", "-e", "SLACK_TEAM_ID", "mcp/slack"),
    run("log-level", "docker", "run", "-i", "--rm", "-e", "LOG_LEVEL=debug", "-e", "TZ=Europe/Berlin", "mcp/time"),
    run("mcp-remote", "npx", "-y", "mcp-remote", "https://mcp.linear.app/sse"),
    run("mcp-remote-header", "npx", "mcp-remote", "https://mcp.example.com/mcp", "--header", "Authorization:${AUTH}"),
    run("mcp-remote-bearer", "npx", "mcp-remote", "https://a.example/mcp", "--header", "Authorization: Bearer ${TOKEN}"),
    run("vscode-input", "npx", "-y", "figma-mcp", "--figma-api-key", "${input:figma-key}", "--stdio"),
    run("your-key", "npx", "-y", "figma-developer-mcp", "--figma-api-key=YOUR-KEY", "--stdio"),
    run("angle", "uvx", "exa-mcp", "--api-key", "<YOUR_API_KEY>"),
    run("variable-name", "uvx", "tavily-mcp", "--api-key", "TAVILY_API_KEY"),
    run("dollar", "sh", "-c", "exec my-server --token $MY_TOKEN"),
    run("cmd", "cmd", "/c", "npx", "-y", "@modelcontextprotocol/server-memory"),
    run("percent", "cmd", "/c", "server.exe", "--token", "%SERVER_TOKEN%"),
    run("op", "op", "run", "--", "server", "--token", "op://Private/GitHub/token"),
    run("vault", "acme-mcp", "--password", "vault:secret/data/acme#password"),
    run("arn", "acme-mcp", "--secret", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:acme-AbCdEf"),
    run("token-file", "acme-mcp", "--token-file", "/run/secrets/token", "--key-path", "./server.key"),
    run("api-key-env", "acme-mcp", "--api-key-env", "ACME_API_KEY", "--secret-name", "acme"),
    run("password-stdin", "acme-mcp", "--password-stdin", "--auth", "oauth", "--auth-type", "basic"),
    run("port", "node", "dist/index.js", "-p8080", "--port", "3000", "-v", "1.2.3"),
    run("publish", "docker", "run", "-i", "-p", "8080:8080", "-v", "/data:/data:ro", "mcp/web"),
    run("uuid-id", "acme-mcp", "--workspace-id", uuid("w1"), "--tenant-id", uuid("t1")),
    run("page-id", "notion-mcp", "--page-id", hexadecimal("p1", 32)),
    run("azure", "npx", "-y", "@azure/mcp@latest", "server", "start", "-e", "AZURE_TOKEN_CREDENTIALS=prod"),
    run("java", "java", "-jar", "/opt/mcp/server-0.9.1-SNAPSHOT.jar", "--spring.profiles.active=stdio"),
    run("python", "python", "-m", "mcp_server_sqlite", "--db-path", "~/test.db"),
    run("uv-dir", "uv", "--directory", "/ABSOLUTE/PATH/TO/PARENT/FOLDER/weather", "run", "weather.py"),
    run("redis", "uvx", "redis-mcp-server", "--url", "redis://localhost:6379/0"),
    run("postgres-sample", "npx", "-y", "pg-mcp", "postgresql://user:password@localhost:5432/db"),
    run("mongo-placeholder", "npx", "-y", "mongo-mcp", "mongodb+srv://<user>:<password>@cluster0.example.net/db"),
    run("supabase", "npx", "-y", "@supabase/mcp-server-supabase", "--read-only", "--project-ref=abcdefghijklmnopqrst"),
    run("placeholder-prefix", "npx", "-y", "gh-mcp", "--token", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    run("json-plain", "acme-mcp", "--config", json.dumps({"region": "eu", "limit": 5, "apiKeyEnv": "ACME_KEY"})),
    run("long-names", "npx", "-y", "@modelcontextprotocol/server-sequential-thinking@2025.7.1", "--toolsets=default"),
    run("camel", "acme-mcp", "--tools", "listRepositoriesForOrganization,createPullRequestReviewComment"),
    run("prompt", "acme-mcp", "--system-prompt", "Never ask for a password. Use the token of the key chain."),
    at("plain-url", "https://mcp.deepwiki.com/mcp"),
    at("sse-url", "https://mcp.example.com/v1/sse?project=alpha&readonly=true&max_tokens=100"),
    at("localhost", "http://localhost:3845/mcp"),
    at("uuid-path", f"https://mcp.pipedream.example/{uuid('pd')}/slack"),
    at("org-path", "https://mcp.example.com/organizations/acme-research-group/projects/summer-2025/mcp"),
    at("profile", "https://server.smithery.example/@upstash/context7-mcp/mcp?profile=cold-wombat-3ZhGqW"),
]  # fmt: skip

_GHP = "ghp_" + body("ghp", 36)
_PASS = "S3cr" + body("pass", 8) + "!"
_FC = "fc-" + hexadecimal("fc", 32)
_RND = body("random", 40)
_PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE" + body("pem", 60) + "\n-----END RSA PRIVATE KEY-----"


def _shape(name: str, value: str, *before: str) -> Entry:
    return run(name, "npx", "-y", "some-mcp", *before, value, secret=value)


LEAKING = [
    run("docker-e", "docker", "run", "-i", "-e", f"GITHUB_PERSONAL_ACCESS_TOKEN={_GHP}", "gh-mcp", secret=_GHP),
    run("docker-env-eq", "docker", "run", "-i", f"--env=SLACK_BOT_TOKEN={_RND}", "mcp/slack", secret=_RND),
    run("docker-env-pair", "docker", "run", "--env", f"DB_PASSWORD={_PASS}", "mcp/db", secret=_PASS),
    run("docker-e-glued", "docker", "run", f"-eAPI_KEY={_PASS}", "mcp/db", secret=_PASS),
    run("flag-pair", "npx", "-y", "exa", "--api-key", "omk_x7", secret="omk_x7"),
    run("flag-eq", "uvx", "mcp-atlassian", f"--jira-token={_PASS}", secret=_PASS),
    run("flag-camel", "npx", "-y", "mcp", "--apiKey", uuid("k1"), secret=uuid("k1")),
    run("flag-under", "npx", "-y", "mcp", f"--access_token={_RND}", secret=_RND),
    run("flag-single-dash", "acme", "-token", "hunter22", secret="hunter22"),
    run("flag-password", "acme", "--password", "correct-horse", secret="correct-horse"),
    run("flag-secret", "acme", "--client-secret", _PASS, secret=_PASS),
    run("flag-pat", "acme", "--pat", hexadecimal("pat", 52), secret=hexadecimal("pat", 52)),
    run("flag-key-vendor", "acme", "--openai-key", _RND, secret=_RND),
    run("flag-auth", "acme", "--auth", f"admin:{_PASS}", secret=_PASS),
    run("sh-c", "sh", "-c", f"API_TOKEN={_PASS} exec my-server", secret=_PASS),
    run("bash-lc-export", "bash", "-lc", f"export OPENAI_API_KEY={_PASS}; my-server", secret=_PASS),
    run("env-cmd", "env", f"ACME_SECRET={_PASS}", "my-server", secret=_PASS),
    run("sh-c-flag", "sh", "-c", f"my-server --token {_PASS} --stdio", secret=_PASS),
    run("header-space", "npx", "mcp-remote", "https://a.example/mcp", "--header", f"Authorization: Bearer {_RND}", secret=_RND),
    run("header-colon", "npx", "mcp-remote", "https://a.example/mcp", "--header", f"X-API-Key:{_PASS}", secret=_PASS),
    run("header-basic", "curl", "-H", "Authorization: Basic " + packed(a="b"), secret=packed(a="b")),
    run("header-eq", "proxy", f"--header=Authorization=Bearer {_RND}", secret=_RND),
    run("header-cookie", "proxy", "-H", f"Cookie: session={_RND}", secret=_RND),
    run("json-arg", "acme", "--config", json.dumps({"apiKey": _PASS}), secret=_PASS),
    run("json-headers", "acme", json.dumps({"Authorization": f"Bearer {_RND}", "Notion-Version": "2022-06-28"}), secret=_RND),
    run("json-nested", "acme", "--opts", json.dumps({"db": {"auth": {"password": _PASS}}}), secret=_PASS),
    run("json-in-json", "acme", "--env", json.dumps({"H": json.dumps({"token": _PASS})}), secret=_PASS),
    run("postgres", "npx", "-y", "pg", f"postgresql://app:{_PASS.rstrip('!')}@db.example.com/app", secret=_PASS.rstrip("!")),
    run("mongodb", "npx", "-y", "mongo", "--uri", f"mongodb+srv://app:{_RND}@c0.example.net/x", secret=_RND),
    run("redis-url", "uvx", "redis", f"--url=redis://default:{_RND}@r.example.com:6379", secret=_RND),
    run("git-token", "uvx", "--from", f"git+https://{_GHP}@github.com/acme/mcp", "acme", secret=_GHP),
    run("azure-conn", "acme", f"AccountName=acme;AccountKey={_RND}==;EndpointSuffix=core.windows.net", secret=_RND),
    run("sql-conn", "acme", f"Server=db;User Id=sa;Password={_PASS};Encrypt=True", secret=_PASS),
    run("remote-query", "npx", "mcp-remote", f"https://mcp.exa.example/mcp?exaApiKey={uuid('exa')}", secret=uuid("exa")),
    run("remote-path", "npx", "mcp-remote", f"https://mcp.firecrawl.example/{_FC}/v2/sse", secret=_FC),
    run("mysql-glued", "mysql", f"-p{_PASS}", secret=_PASS),
    run("glued-p", "acme", "-pHorseBattery9", secret="HorseBattery9"),
    run("k-value", "acme", "-k", _PASS, secret=_PASS),
    run("curl-u", "curl", "-u", f"admin:{_PASS}", secret=_PASS),
    run("redis-a", "redis-cli", "-h", "r.example.com", "-a", _PASS, secret=_PASS),
    run("positional", "acme", _RND, secret=_RND),
    run("pem", "acme", "--signing", _PEM, secret=_PEM),
    _shape("jwt", jwt("supabase")),
    _shape("github-pat", "github_pat_" + body("gp", 22) + "_" + body("gp2", 59)),
    _shape("gitlab", "glpat-" + body("gl", 20)),
    _shape("anthropic", "sk-ant-api03-" + body("ant", 93)),
    _shape("openai", "sk-proj-" + body("oai", 48)),
    _shape("openrouter", "sk-or-v1-" + hexadecimal("or", 64)),
    _shape("slack-bot", "-".join(("xoxb", body("s1", 12, "0123456789"), body("s2", 24)))),
    _shape("aws", "AKIA" + body("aws", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
    _shape("google", "AIza" + body("goo", 35)),
    _shape("stripe", "sk_live_" + body("str", 24)),
    _shape("notion", "ntn_" + body("ntn", 43)),
    _shape("figma", "figd_" + body("fig", 40)),
    _shape("linear", "lin_api_" + body("lin", 40)),
    _shape("huggingface", "hf_" + body("hf", 34)),
    _shape("tavily", "tvly-" + body("tav", 32)),
    _shape("sendgrid", ".".join(("SG", body("sg1", 22), body("sg2", 43)))),
    _shape("databricks", "dapi" + hexadecimal("dapi", 32)),
    _shape("atlassian", "ATATT3" + body("atl", 60)),
    _shape("telegram", body("tg", 10, "123456789") + ":" + body("tg2", 35)),
    at("user-info", f"https://admin:{_RND}@mcp.example.com/mcp", _RND),
    at("query-snake", f"https://mcp.example.com/mcp?api_key={_RND}", _RND),
    at("query-camel", f"https://mcp.tavily.example/mcp/?tavilyApiKey={_RND}", _RND),
    at("query-sig", f"https://x.blob.example/mcp?sv=2022&sig={_RND}%3D", _RND),
    at("query-amz", f"https://b.s3.example/x?X-Amz-Signature={hexadecimal('amz', 64)}", hexadecimal("amz", 64)),
    at("query-code", f"https://fn.azure.example/mcp?code={_RND}", _RND),
    at("config-packed", "https://server.smithery.example/x/mcp?config=" + packed(exaApiKey=_PASS), packed(exaApiKey=_PASS)),
    at("path-prefix", f"https://mcp.firecrawl.example/{_FC}/v2/mcp", _FC),
    at("path-random", f"https://mcp.zapier.example/api/mcp/s/{body('zap', 64)}/mcp", body("zap", 64)),
    at("fragment", f"https://mcp.example.com/mcp#access_token={_RND}", _RND),
]  # fmt: skip
