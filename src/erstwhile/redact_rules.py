"""What secrets look like, as data for `erstwhile.redact`: one line for each shape.

A pattern runs only over a text that holds one of its literals. Quantifiers are bounded, so no text makes it slow.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ASSIGNED_WORDS", "PLACEHOLDERS", "PUBLIC_NAMES", "RULES", "VERSION", "Rule"]

VERSION = 1
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
)

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
}
"""What a name ends in, or nearly, that holds a secret, in lower case, with the kind of the secret."""

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
