"""What is masked and what is left alone. Every secret here is invented, and put together at run time so that no scanner
takes this file for a leak."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secret_corpus import false_examples, true_examples

from erstwhile.redact import redact, redact_all
from erstwhile.redact_rules import PUBLIC_NAMES, RULES, SPACED_RULES

MIXED = "aB3dE6gH9k" * 20
HEX = "0a1b2c3d4e5f6789" * 10
UPPER = "Q7R2TNZ4K3WXY5BC" * 5
DASHES = "-" * 5


def block(kind: str, lines: int = 4) -> str:
    body = "\n".join([MIXED[:64]] * lines)
    return f"{DASHES}BEGIN {kind}{DASHES}\n{body}\n{DASHES}END {kind}{DASHES}"


SECRETS = [
    ("private-key", block("PRIVATE " + "KEY")),
    ("private-key", block("RSA PRIVATE " + "KEY")),
    ("private-key", block("OPENSSH PRIVATE " + "KEY", 20)),
    ("private-key", block("EC PRIVATE " + "KEY").replace("\n", "\\n")),
    ("private-key", block("PGP PRIVATE " + "KEY BLOCK")),
    ("private-key", block("PRIVATE " + "KEY").rsplit("\n", 1)[0]),
    ("aws-access-key", "AKIA" + UPPER[:16]),
    ("aws-access-key", "ASIA" + UPPER[:16]),
    ("github-token", "ghp_" + MIXED[:36]),
    ("github-token", "gho_" + MIXED[:36]),
    ("github-token", "ghs_" + MIXED[:36]),
    ("github-token", "ghr_" + MIXED[:40]),
    ("github-token", "github_pat_" + MIXED[:22] + "_" + MIXED[:59]),
    ("gitlab-token", "glpat-" + MIXED[:20]),
    ("gitlab-token", "glrt-" + MIXED[:20]),
    ("slack-token", "xox" + "b-" + "1234567890-" * 2 + MIXED[:24]),
    ("slack-token", "xox" + "p-" + "1234567890-" * 3 + HEX[:32]),
    ("stripe-key", "sk_" + "live_" + MIXED[:24]),
    ("stripe-key", "rk_" + "live_" + MIXED[:24]),
    ("stripe-key", "sk_" + "test_" + MIXED[:24]),
    ("stripe-key", "whsec_" + MIXED[:32]),
    ("openai-key", "sk-" + MIXED[:48]),
    ("openai-key", "sk-" + "proj-" + MIXED[:120]),
    ("openai-key", "sk-" + HEX[:32]),
    ("anthropic-key", "sk-" + "ant-api03-" + MIXED[:93]),
    ("google-key", "AI" + "za" + MIXED[:35]),
    ("google-key", "GOC" + "SPX-" + MIXED[:28]),
    ("google-token", "ya" + "29." + MIXED[:80]),
    ("huggingface-token", "hf_" + MIXED[:34]),
    ("npm-token", "npm_" + MIXED[:36]),
    ("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc" + MIXED[:120]),
    ("rubygems-key", "rubygems_" + HEX[:48]),
    ("sendgrid-key", "SG" + "." + MIXED[:22] + "." + MIXED[:43]),
    ("twilio-key", "S" + "K" + HEX[:32]),
    ("digitalocean-token", "dop_" + "v1_" + HEX[:64]),
    ("telegram-token", "123456789" + ":AA" + MIXED[:33]),
    ("shopify-token", "shp" + "at_" + HEX[:32]),
    ("square-token", "sq0" + "atp-" + MIXED[:22]),
    ("mailgun-key", "ke" + "y-" + HEX[:32]),
    ("databricks-token", "dap" + "i" + HEX[:32]),
    ("linear-key", "lin_" + "api_" + MIXED[:40]),
    ("groq-key", "gs" + "k_" + MIXED[:52]),
    ("xai-key", "xa" + "i-" + MIXED[:80]),
    ("replicate-token", "r8" + "_" + MIXED[:37]),
    ("vault-token", "hv" + "s." + MIXED[:90]),
    ("grafana-token", "gls" + "a_" + MIXED[:32] + "_" + HEX[:8]),
    ("newrelic-key", "NRA" + "K-" + UPPER[:27]),
    ("postman-key", "PMA" + "K-" + HEX[:24] + "-" + HEX[:34]),
    ("figma-token", "fig" + "d_" + MIXED[:40]),
    ("supabase-token", "sb" + "p_" + HEX[:40]),
    ("age-key", "AGE-SECRET-" + "KEY-1" + UPPER[:58]),
    ("jwt", "ey" + "J" + MIXED[:30] + ".ey" + "J" + MIXED[:60] + "." + MIXED[:43]),
]

PASSWORD = "tr0ub4" + "dor-Zq"
TOKEN = MIXED[:32]

# The secret stands where {} is.
ASSIGNED = [
    ("url-password", "postgres://shop:{}@db.example.org:5432/shop", PASSWORD),
    ("url-password", "git clone https://dev:{}@git.example.org/a.git", TOKEN),
    ("url-password", "redis://:{}@cache:6379/0", PASSWORD),
    ("url-password", "mongodb+srv://u:{}@cluster.example.org", "p%40ss" + "w0rd"),
    ("authorization", "Authorization: Bearer {}", TOKEN),
    ("authorization", "authorization: basic {}", "ZGV2OmhlbGxvMTIz" + "NDU2Nzg5"),
    ("authorization", "curl -H 'Authorization: token {}'", TOKEN),
    ("authorization", '{{"Authorization": "Bearer {}"}}', TOKEN),
    ("authorization", "use Bearer {} there", TOKEN),
    ("password", 'password = "{}"', PASSWORD),
    ("password", "password='{}'", PASSWORD),
    ("password", '{{"password": "{}"}}', PASSWORD),
    ("password", '{{\\"password\\": \\"{}\\"}}', PASSWORD),
    ("password", 'const dbPassword = "{}";', PASSWORD),
    ("password", 'password: str = "{}"', PASSWORD),
    ("password", "DB_PASSWORD={}", PASSWORD),
    ("password", "export PGPASSWORD={}", "correct" + "horse"),
    ("password", "DB_PASSWORD={}\nDB_HOST=x", "hunter" + "hunter"),
    ("password", 'DB_PASSWORD="{}"', PASSWORD),
    ("password", "passphrase: {}", PASSWORD),
    ("password", "mysql --password={} -u root", PASSWORD),
    ("password", "Server=x;User=sa;Pwd={};", PASSWORD),
    ("secret", "client_secret={}&grant_type=x", TOKEN),
    ("api-key", "SECRET_KEY = '{}'", "django-insecure-" + MIXED[:40]),
    ("api-key", "aws_secret_access_key = {}", "wJ4lrXUtnF3MI" + "/K7MDENG/bPxRfi" + "CYzzzz1KEYab"),
    ("secret", 'clientSecret: "{}",', TOKEN),
    ("token", "https://example.org/api?access_token={}&x=1", TOKEN),
    ("token", "token: {}", HEX[:40]),
    ("token", 'auth_token := "{}"', TOKEN),
    ("token", 'config["token"] = "{}"', TOKEN),
    ("token", "//registry.example.org/:_authToken={}", TOKEN),
    ("api-key", "api_key: {}", TOKEN),
    ("api-key", 'apiKey: "{}"', TOKEN),
    ("api-key", "X-Api-Key: {}", TOKEN),
    ("api-key", 'ENCRYPTION_KEY="{}"', HEX[:32]),
    ("azure-key", "AccountName=shop;AccountKey={};EndpointSuffix=x", MIXED[:86] + "=="),
    ("slack-webhook", "https://hooks.slack.com/services/{}", "T0" + UPPER[:8] + "/B0" + UPPER[:8] + "/" + MIXED[:24]),
    ("discord-webhook", "https://discord.com/api/webhooks/123456789012345678/{}", MIXED[:68]),
]

LEFT_ALONE = [
    # hashes, ids, numbers
    "commit 4f2a9c1e7b80d35a6c9e1f204b7d8a3c5e6f7081",
    "index 83db48f..bf269f4 100644",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "9c3a23cd-e67a-4b75-bc39-47249fc2d0a1",
    "session_id=9c3a23cd-e67a-4b75-bc39-47249fc2d0a1",
    "integrity sha512-" + MIXED[:86] + "==",
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" * 20,
    "key: 1234567890",
    "total tokens: 128000",
    "max_tokens=4096000000",
    "token_count = 12345678",
    "the token 4f2a9c1e7b80d35a was read",
    "keyboard-shortcuts-and-more-of-them-2",
    # already masked, placeholders
    "token=[redacted]",
    "token=[redacted:token]",
    'password = "[redacted:password]"',
    "Authorization: Bearer [redacted:authorization]",
    "https://dev:[redacted:url-password]@git.example.org",
    "AWS_SECRET_ACCESS_KEY=***",
    "password=********",
    "token=<token>",
    "token=<your-token-here-123456>",
    "API_KEY=your_api_key_here_12",
    "API_KEY=${API_KEY_FROM_ENV1}",
    "api_key=$API_KEY_123456",
    "api_key: {{ secrets.API_KEY_12 }}",
    "TOKEN=$(cat /run/token12345)",
    "password: changeme123",
    'password = "change-me-now-1"',
    "token = xxxxxxxxxxxxxxxx",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "ghp_" + "x" * 36,
    "AKIA" + "IOSFODNN7EXAMPLE",
    "Authorization: Bearer YOUR_TOKEN_12345678",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer ${process.env.TOKEN}",
    "postgres://user:password@localhost/db",
    "postgres://user:<password>@localhost/db",
    "postgres://user:${PGPASSWORD}@localhost/db",
    "https://user:pass@example.org",
    "password: ...",
    'secret: "placeholder-123"',
    # code that names what it handles
    "password = getpass()",
    "password = getpass.getpass('Password: ')",
    "password = os.environ['DB_PASSWORD']",
    'token = os.environ["GITHUB_TOKEN"]',
    'token = os.getenv("TOKEN_12345")',
    "const token = process.env.GITHUB_TOKEN_2;",
    "token = generate_token(32)",
    "token = secrets.token_hex(16)",
    "self.token = token",
    "self.password = password",
    "token=self.config.token_v2",
    "password: str",
    "password: Optional[str] = None",
    "password: string;",
    "def login(user, password, token=None):",
    "if password != confirm_password:",
    "token = tokenizer.next_token2()",
    'tokenizer = "bert-base-uncased-v2"',
    'next_token = "abc123DEF456"',
    'pad_token="<|endoftext|>"',
    'eos_token = "</s>12345"',
    'input type="password" name="password2"',
    'label: "Password", field: "new_password"',
    '{"type": "password", "id": "password_field"}',
    'password="new_password"',
    "secret_name: my-app-secret",
    "secretName: tls-certificate-prod",
    "api_key_header = 'X-Api-Key'",
    'TOKEN_URL = "https://example.org/oauth/token2"',
    "token_type: Bearer",
    "password_file=/run/secrets/db_password1",
    "password=/run/secrets/db_password1",
    "PASSWORD_HASHERS = ['a.B1']",
    "SECRET_KEY = env('SECRET_KEY')",
    "csrf_token = request.POST.get('csrf1')",
    "assert token == expected_token",
    "type Token = { kind: TokenKind, text: String }",
    "case Token::Identifier(name) => name,",
    # prose
    "The password must have at least 12 characters.",
    "Forgot your password? Reset it at https://example.org/reset/1234567890",
    "bearer authentication is explained below",
    "a bearer of bad news arrived at 10:30",
    "Invalid token: unexpected end of input",
    "SyntaxError: Unexpected token: punctuation",
    "secret: the quick brown fox",
    "a task-oriented-conversation-with-many-words-in-it",
    "sk-fading-circle-animation-with-long-name",
    "the disk-usage-analyzer-for-linux-desktop-2",
    "https://example.org:8080/path@2x.png",
    "see http://example.org/a:b@c",
    "git@host.org:team/repo.git",
    "npm_config_registry and npm_package_version_and_a_long_variable",
    "hf_hub_download_and_more_of_such_functions",
    "SKIPPED 12 tests, SK_CONSTANT",
    "-----BEGIN PUBLIC KEY-----\n" + "A1b2" * 16 + "\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + "A1b2" * 16 + "\n-----END CERTIFICATE-----",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9 is a header",
    "xoxo, from the team-of-many-people",
    "密码：登录超时，令牌 token 无效",
    "İ password İ",
    "",
    "\udcb2\0",
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
def test_a_secret_with_a_shape_is_masked_in_place(kind: str, secret: str) -> None:
    assert redact(f"before {secret} after") == f"before [redacted:{kind}] after"
    assert secret not in redact(f'{{"value": "{secret}"}}\n')


@pytest.mark.parametrize(("kind", "frame", "secret"), ASSIGNED)
def test_a_secret_with_a_telling_name_is_masked_and_its_surroundings_stay(kind: str, frame: str, secret: str) -> None:
    assert redact(frame.format(secret)) == frame.format(f"[redacted:{kind}]")


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert redact(text) == text


def test_several_secrets_of_a_text_are_all_masked() -> None:
    text = "\n".join(secret for _, secret in SECRETS)
    masked = redact(text)
    assert all(secret not in masked for _, secret in SECRETS)


def test_a_secret_is_masked_behind_letters_that_change_length_in_lower_case() -> None:
    assert redact(f'İİİ password = "{PASSWORD}" İ') == 'İİİ password = "[redacted:password]" İ'


def test_a_secret_touching_another_is_masked_too() -> None:
    masked = redact(f'password = "{PASSWORD}"token = "{TOKEN}"')
    assert PASSWORD not in masked
    assert TOKEN not in masked


def test_every_rule_has_an_example_that_it_masks() -> None:
    masked = " ".join(redact(text) for text, _ in true_examples()) + " ".join(redact(secret) for _, secret in SECRETS)
    masked += " ".join(redact(frame.format(secret)) for _, frame, secret in ASSIGNED)
    kinds = {rule.kind for rule in (*RULES, *SPACED_RULES)}
    assert {kind for kind in kinds if f"[redacted:{kind}]" not in masked} == set()


def test_of_many_secrets_hardly_one_is_missed_and_of_many_other_texts_hardly_one_is_masked() -> None:
    secrets, others = true_examples(), false_examples()
    assert len(secrets) >= 200
    assert len(others) >= 300
    missed = [text for text, secret in secrets if secret in redact(text)]
    alarms = [text for text in others if redact(text) != text]
    assert len(missed) <= 0.02 * len(secrets), missed
    assert len(alarms) <= 0.01 * len(others), alarms


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_a_token_that_is_no_secret_by_name_is_left_alone(name: str) -> None:
    text = f'{name}_token = "{TOKEN}"'
    assert redact(text) == text


@pytest.mark.parametrize(
    "hostile",
    [
        "://" * 20_000,
        "://a:" * 20_000,
        "password=" * 20_000,
        "password = '" * 20_000,
        "-----BEGIN PRIVATE KEY-----" * 3_000,
        "eyJ" * 30_000,
        "eyJaaaaaaaa." * 10_000,
        "bearer " * 20_000,
        "sk-" * 30_000,
        "token:" + " " * 100_000,
        "A" * 200_000,
    ],
)
def test_a_hostile_text_ends(hostile: str) -> None:
    assert redact(redact(hostile)) == redact(hostile)


JOINTS = [
    "password",
    "=",
    ":",
    '"',
    "'",
    " ",
    "\n",
    "token",
    "Bearer ",
    "://",
    "@",
    "İ",
    "[redacted:x]",
    "[",
    "]",
    "a1B2c3",
]
FRAMED = [frame.format(secret) for _, frame, secret in ASSIGNED]
PIECES = st.sampled_from([*JOINTS, *FRAMED, *(secret for _, secret in SECRETS if len(secret) < 60)])


@given(st.lists(PIECES, max_size=10).map("".join))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    masked = redact(text)
    assert redact(masked) == masked


@given(st.lists(st.lists(PIECES, max_size=10).map("".join), max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_many_texts_are_masked_as_each_alone_and_as_their_lines(texts: list[str], end: str) -> None:
    one_by_one = [redact(text) for text in texts]
    assert redact_all(texts) == one_by_one
    assert redact(end.join(texts)) == end.join(one_by_one)


def test_a_text_of_many_windows_is_masked_wherever_the_secret_lies() -> None:
    secret = f'password = "{PASSWORD}"'
    text = "\n".join(secret if number % 5_000 == 0 else f"{number} of many lines" for number in range(40_000))
    assert redact(text) == text.replace(PASSWORD, "[redacted:password]")
    long = "word " * 100_000 + secret + " word" * 100_000
    assert redact(long) == long.replace(PASSWORD, "[redacted:password]")


@given(st.text(alphabet=st.characters(codec=None)))
def test_no_text_raises(text: str) -> None:
    assert redact(redact(text)) == redact(text)
