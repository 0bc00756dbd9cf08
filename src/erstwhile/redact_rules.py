"""What secrets look like, as data for `erstwhile.redact`: one line for each shape.

A pattern runs only over a text that holds one of its literals. Quantifiers are bounded, so no text makes it slow.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "ASSIGNED_WORDS",
    "ENVIRONMENT_WORDS",
    "PLACEHOLDERS",
    "PUBLIC_NAMES",
    "RULES",
    "SPACED_RULES",
    "VERSION",
    "Rule",
]

VERSION = 2
"""Goes up whenever a text may be masked differently; `erst redact --rescan` compares it."""


class Rule(NamedTuple):
    kind: str
    literals: tuple[str, ...]
    """The text holds one of them where the pattern matches."""
    pattern: str
    """Its group `secret` is what is masked; all of the match where it has none."""
    digits: int = 0
    """How many digits the secret has at least: words joined by hyphens have few, random characters many."""


_START = r"(?<![A-Za-z0-9_+/-])"
_END = r"(?![A-Za-z0-9_+/=-])"
_URL_SAFE = r"[A-Za-z0-9_-]"

RULES = (
    Rule(
        "private-key",
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:[A-Za-z0-9+/=\s\\:,.()@<>]|-(?!----)){64,20000}+"
        r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        # cut off before its end: whole lines, and a last one if nothing follows
        r"|(?:(?:\s|\\[nr]){1,4}[A-Za-z0-9+/=]{40,80}){1,400}(?:(?:\n|\\n)[A-Za-z0-9+/=]{1,39}(?=\s{0,4}\Z))?)",
    ),
    Rule(
        "url-password",
        ("://",),
        r"""://[^\s/:@"'<>`|\\]{0,128}:(?P<secret>[^\s/@"'<>`|\\]{3,256})@(?=[A-Za-z0-9_\[])""",
    ),
    Rule("jwt", ("eyJ",), rf"{_START}eyJ{_URL_SAFE}{{8,2000}}\.eyJ{_URL_SAFE}{{8,8000}}\.{_URL_SAFE}{{8,2000}}"),
    Rule("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), rf"{_START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_END}"),
    Rule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36,255}"),
    Rule("github-token", ("github_pat_",), r"(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{36,255}"),
    Rule(
        "gitlab-token",
        ("glpat-", "gldt-", "glptt-", "glrt-", "glsoat-", "glcbt-", "glft-"),
        r"(?<![A-Za-z0-9])gl(?:pat|dt|ptt|rt|soat|cbt|ft)-[A-Za-z0-9_.-]{20,200}",
        2,
    ),
    Rule("slack-token", ("xox", "xapp-"), r"(?<![A-Za-z0-9])(?:xox[abdeoprs]|xapp)-[A-Za-z0-9-]{12,250}", 3),
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_]{20,120})",
        2,
    ),
    Rule(
        "discord-webhook",
        ("/api/webhooks/",),
        rf"/api/webhooks/[0-9]{{10,25}}/(?P<secret>{_URL_SAFE}{{40,120}})",
        2,
    ),
    Rule("stripe-key", ("k_live_", "k_test_"), r"(?<![A-Za-z0-9])[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}", 1),
    Rule("stripe-key", ("whsec_",), r"(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=]{24,100}", 1),
    Rule("anthropic-key", ("sk-ant-",), rf"(?<![A-Za-z0-9])sk-ant-{_URL_SAFE}{{20,250}}", 2),
    Rule("openai-key", ("sk-",), rf"(?<![A-Za-z0-9_-])sk-{_URL_SAFE}{{20,250}}", 3),
    Rule("google-key", ("AIza",), rf"{_START}AIza{_URL_SAFE}{{35}}(?!{_URL_SAFE})", 1),
    Rule("google-key", ("GOCSPX-",), rf"GOCSPX-{_URL_SAFE}{{20,60}}", 1),
    Rule("google-token", ("ya29.",), rf"{_START}ya29\.{_URL_SAFE}{{20,1000}}", 2),
    Rule("huggingface-token", ("hf_",), r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{30,60}", 1),
    Rule("npm-token", ("npm_",), r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])", 1),
    Rule("pypi-token", ("pypi-",), rf"(?<![A-Za-z0-9])pypi-{_URL_SAFE}{{50,500}}", 3),
    Rule("rubygems-key", ("rubygems_",), r"(?<![A-Za-z0-9])rubygems_[0-9a-f]{48}"),
    Rule("sendgrid-key", ("SG.",), rf"{_START}SG\.{_URL_SAFE}{{20,24}}\.{_URL_SAFE}{{39,50}}", 1),
    Rule("twilio-key", ("SK",), r"(?<![A-Za-z0-9_])SK[0-9a-f]{32}(?![A-Za-z0-9])", 3),
    Rule("digitalocean-token", ("_v1_",), r"(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}"),
    Rule("telegram-token", (":AA",), rf"(?<![A-Za-z0-9])[0-9]{{8,10}}:AA{_URL_SAFE}{{32,34}}(?!{_URL_SAFE})"),
    Rule(
        "azure-key",
        ("AccountKey=", "AccessKey="),
        r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{40,88}={0,2})",
        2,
    ),
    Rule("azure-signature", ("sig=",), r"[?&]sig=(?P<secret>[A-Za-z0-9%+/_-]{40,120}(?:={1,2}|%3D){0,2})", 2),
    Rule("shopify-token", ("shp",), r"(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    Rule("square-token", ("sq0",), rf"(?<![A-Za-z0-9])sq0(?:atp|csp|idp)-{_URL_SAFE}{{22,60}}", 1),
    Rule("mailgun-key", ("key-",), r"(?<![A-Za-z0-9_-])key-[0-9a-f]{32}(?![A-Za-z0-9])", 3),
    Rule("databricks-token", ("dapi",), r"(?<![A-Za-z0-9])dapi[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9])", 3),
    Rule("linear-key", ("lin_api_",), r"(?<![A-Za-z0-9])lin_api_[A-Za-z0-9]{40}"),
    Rule("notion-token", ("ntn_",), r"(?<![A-Za-z0-9_])ntn_[A-Za-z0-9]{40,60}", 2),
    Rule("groq-key", ("gsk_",), r"(?<![A-Za-z0-9_])gsk_[A-Za-z0-9]{40,60}", 2),
    Rule("xai-key", ("xai-",), r"(?<![A-Za-z0-9])xai-[A-Za-z0-9]{60,100}", 2),
    Rule("perplexity-key", ("pplx-",), r"(?<![A-Za-z0-9])pplx-[A-Za-z0-9]{40,60}", 2),
    Rule("replicate-token", ("r8_",), r"(?<![A-Za-z0-9_])r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])", 1),
    Rule("vault-token", ("hvs.", "hvb."), rf"(?<![A-Za-z0-9])hv[sb]\.{_URL_SAFE}{{24,300}}", 2),
    Rule("terraform-token", (".atlasv1.",), rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_URL_SAFE}{{60,80}}"),
    Rule("doppler-token", ("dp.",), r"(?<![A-Za-z0-9.])dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,80}", 2),
    Rule("sentry-token", ("sntrys_", "sntryu_"), r"(?<![A-Za-z0-9])sntry[su]_[A-Za-z0-9+/=_-]{40,400}"),
    Rule("grafana-token", ("glsa_", "glc_"), r"(?<![A-Za-z0-9])gl(?:sa|c)_[A-Za-z0-9+/=_]{32,400}", 2),
    Rule("newrelic-key", ("NRAK-",), r"NRAK-[A-Z0-9]{27}"),
    Rule("tailscale-key", ("tskey-",), r"tskey-[a-z]{2,10}-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20,50}"),
    Rule("postman-key", ("PMAK-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Rule("figma-token", ("figd_",), rf"figd_{_URL_SAFE}{{38,60}}", 1),
    Rule("supabase-token", ("sbp_",), r"(?<![A-Za-z0-9])sbp_[0-9a-f]{40}"),
    Rule("age-key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    Rule(
        "discord-token",  # a user's number in base64, a time, a signature
        ("MT", "MD", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        rf"{_START}[MNO][DTjz][A-Za-z0-9]{{21,26}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,40}}{_END}",
        3,
    ),
    Rule("azure-secret", ("Q~",), r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", 2),
    Rule("alibaba-key", ("LTAI",), rf"{_START}LTAI[A-Za-z0-9]{{16,20}}{_END}", 1),
    Rule("tencent-key", ("AKID",), rf"{_START}AKID[A-Za-z0-9]{{32}}{_END}", 2),
    Rule("yandex-key", ("AQVN",), rf"{_START}AQVN[A-Za-z0-9_-]{{35,38}}{_END}", 2),
    Rule("cloudflare-key", ("v1.0-",), r"(?<![A-Za-z0-9.])v1\.0-[0-9a-f]{24}-[0-9a-f]{140,160}"),
    Rule("heroku-key", ("HRKU-",), rf"(?<![A-Za-z0-9])HRKU-{_URL_SAFE}{{36,70}}", 2),
    Rule("fly-token", ("fm1_", "fm2_", "fo1_"), r"(?<![A-Za-z0-9_])f(?:m[12]|o1)_[A-Za-z0-9+/=_-]{40,2000}", 3),
    Rule("netlify-token", ("nfp_",), r"(?<![A-Za-z0-9_])nfp_[A-Za-z0-9]{36,60}", 2),
    Rule("airtable-token", ("pat",), r"(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![0-9a-f])"),
    Rule(
        "atlassian-token", ("ATATT3", "ATCTT3", "ATBB"), rf"(?<![A-Za-z0-9])AT(?:[AC]TT3|BB){_URL_SAFE}{{28,400}}=?", 2
    ),
    Rule("brevo-key", ("xkeysib-", "xsmtpsib-"), r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    Rule("mailchimp-key", ("-us",), r"(?<![A-Za-z0-9])[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])", 6),
    Rule("facebook-token", ("EAA",), rf"{_START}EAA[A-Za-z0-9]{{80,300}}{_END}", 5),
    Rule("docker-token", ("dckr_pat_", "dckr_oat_"), rf"dckr_[po]at_{_URL_SAFE}{{24,60}}", 1),
    Rule("contentful-token", ("CFPAT-",), rf"CFPAT-{_URL_SAFE}{{40,50}}", 2),
    Rule(
        "plaid-token",
        ("access-",),
        r"access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    Rule("pulumi-token", ("pul-",), r"(?<![A-Za-z0-9])pul-[0-9a-f]{40}(?![0-9a-f])", 5),
    Rule("planetscale-token", ("pscale_",), rf"pscale_(?:tkn|oauth|pw)_{_URL_SAFE}{{32,64}}", 2),
    Rule("tavily-key", ("tvly-",), r"(?<![A-Za-z0-9])tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,60}", 2),
    Rule("pinecone-key", ("pcsk_",), r"(?<![A-Za-z0-9])pcsk_[A-Za-z0-9_]{40,90}", 2),
    Rule("langsmith-key", ("lsv2_",), r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    Rule("cargo-token", ("cio",), r"(?<![A-Za-z0-9])cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", 3),
    Rule("clojars-token", ("CLOJARS_",), r"CLOJARS_[0-9a-f]{60}"),
    Rule("nuget-key", ("oy2",), r"(?<![A-Za-z0-9])oy2[a-z0-9]{43}(?![A-Za-z0-9])", 5),
    Rule("artifactory-key", ("AKCp",), rf"{_START}AKCp[A-Za-z0-9]{{64,90}}{_END}", 3),
    Rule("dynatrace-token", ("dt0c01.", "dt0s"), r"dt0[cs][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    Rule("typeform-token", ("tfp_",), rf"(?<![A-Za-z0-9])tfp_{_URL_SAFE}{{40,70}}", 2),
    Rule("sourcegraph-token", ("sgp_",), r"(?<![A-Za-z0-9])sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    Rule("buildkite-token", ("bkua_",), r"bkua_[0-9a-f]{40}"),
    Rule("circleci-token", ("CCIPAT_",), r"CCIPAT_[A-Za-z0-9]{20,24}_[0-9a-f]{40}"),
    Rule("onepassword-token", ("ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/=_-]{200,2000}"),
    Rule("easypost-key", ("EZAK", "EZTK"), r"(?<![A-Za-z0-9])EZ[AT]K[A-Za-z0-9]{54}", 4),
    Rule("shippo-token", ("shippo_",), r"shippo_(?:live|test)_[0-9a-f]{40}"),
    Rule("gitea-token", ("gta_", "glft_"), r"(?<![A-Za-z0-9])gta_[0-9a-f]{40}"),
    Rule("elevenlabs-key", ("sk_",), r"(?<![A-Za-z0-9_])sk_[0-9a-f]{48}(?![0-9a-f])", 6),
    Rule("coinbase-key", ("organizations/",), r"organizations/[0-9a-f-]{36}/apiKeys/(?P<secret>[0-9a-f-]{36})"),
)

_WORD = r"""[^\s"'`$<{][^\s"'`]"""
_REST = r"[^\n|;]{0,200}?[ \t]"

SPACED_RULES = (
    Rule(
        "password",
        ("password ",),
        rf"(?:login|user)[ \t]{{1,4}}\S{{1,128}}[ \t]{{1,4}}password[ \t]{{1,4}}(?P<secret>{_WORD}{{5,255}})",
    ),
    Rule(
        "password",
        ("password ",),
        rf"(?:^|(?<=\n))[ \t]{{0,8}}password[ \t]{{1,4}}(?P<secret>{_WORD}{{7,127}})(?=[ \t\r]{{0,4}}(?:\n|\Z))",
        2,
    ),
    Rule(
        "password",
        ("curl ",),
        rf"curl\b{_REST}(?:-u|--user)[ \t=]{{0,3}}[\"']?[^\s:\"']{{1,128}}:(?P<secret>{_WORD}{{3,255}})",
    ),
    Rule("password", ("sshpass",), rf"sshpass[ \t]{{1,4}}-p[ \t]{{0,4}}[\"']?(?P<secret>{_WORD}{{3,127}})"),
    Rule(
        "password",
        ("mysql", "mariadb"),
        rf"(?:mysql(?:dump|admin)?|mariadb)\b{_REST}-p[\"']?(?P<secret>{_WORD}{{3,127}})",
    ),
    Rule("password", ("redis-cli",), rf"redis-cli\b{_REST}-a[ \t]{{1,3}}[\"']?(?P<secret>{_WORD}{{5,127}})"),
    Rule("password", ("docker login",), rf"docker login\b{_REST}-p[ \t=]{{1,3}}[\"']?(?P<secret>{_WORD}{{5,255}})"),
    Rule(
        "password",
        ("PASSWORD=", "PASSWD=", "_PASS=", "_PW="),
        r"""(?:PASSWORD|PASSWD|_PASS|_PW)=["']?(?P<secret>[^\s"'`$<>{}()\[\],;&|\\]{5,256})""",
        1,
    ),
    Rule(
        "secret",
        ("--pass", "--token ", "--api-key ", "--secret ", "--auth-token ", "--access-token ", "--client-secret "),
        r"--(?:password|passwd|pass|token|api-key|secret|(?:auth|access)-token|client-secret)"
        rf"[ \t]{{1,3}}[\"']?(?P<secret>{_WORD}{{7,255}})",
        2,
    ),
    Rule("api-key", ("aws_secret_access_key ",), r"aws_secret_access_key[ \t]{1,3}(?P<secret>[A-Za-z0-9/+=]{40})", 2),
    Rule("cookie", ("ookie:",), r"[Cc]ookie:[^\n]{0,400}?=(?P<secret>[A-Za-z0-9%._~+/=-]{16,4096})", 3),
    Rule("docker-auth", ('"auth"',), r'"auth"[ \t]{0,3}:[ \t]{0,3}"(?P<secret>[A-Za-z0-9+/]{16,400}={0,2})"', 1),
)
"""Shapes that stand in several words of one line: options of commands, headers, lines of a .netrc."""

ASSIGNED_WORDS = {
    "passw": "password",
    "passphrase": "password",
    "pwd": "password",
    "secret": "secret",
    "token": "token",
    "api_key": "api-key",
    "apikey": "api-key",
    "api-key": "api-key",
    "access_key": "api-key",
    "accesskey": "api-key",
    "private_key": "api-key",
    "signing_key": "api-key",
    "encryption_key": "api-key",
    "auth_key": "api-key",
    "bearer": "authorization",
    "authorization": "authorization",
    "credential": "secret",
    "passcode": "password",
}
"""What a name ends in, or nearly, that holds a secret, in lower case, with the kind of the secret."""

ENVIRONMENT_WORDS = {
    "_KEY": "api-key",
    "_PAT": "token",
    "_JWT": "token",
    "_AUTH": "secret",
    "_SALT": "secret",
    "_DSN": "secret",
}
"""Ends of names in capitals that hold a secret only if the value is random: `CACHE_KEY` does not."""

PUBLIC_NAMES = (
    "next",
    "page",
    "pagination",
    "continuation",
    "cancel",
    "cancellation",
    "stop",
    "eos",
    "bos",
    "pad",
    "unk",
)
"""`next_token` and its like come before `token` and hold no secret."""

PLACEHOLDERS = (
    "example",
    "changeme",
    "change_me",
    "change-me",
    "placeholder",
    "your",
    "xxxx",
    "****",
    "....",
    "…",
    "redacted",
    "dummy",
    "replace",
    "insert",
    "environ",
    "getenv",
    "process.env",
)
"""A value that holds one of these is a placeholder."""
