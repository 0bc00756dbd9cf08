"""The tokenizer, as a table of what finds what, and as properties of any text."""

from __future__ import annotations

from collections import Counter
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erstwhile.text import STOP_WORDS, Term, analyse, exact, key, pack, positions, spans, terms


def side_by_side(needle: tuple[str, ...], stream: list[str]) -> bool:
    return any(tuple(stream[at : at + len(needle)]) == needle for at in range(len(stream) - len(needle) + 1))


def matches(term: Term, stream: list[str], wholes: list[str]) -> bool:
    """The meaning of a term, as its docstring says."""
    tokens = {*stream, *wholes}
    if term.kind == "word":
        return term.stream[0] in tokens
    if term.kind == "cjk":
        return set(term.strong) <= set(stream)
    return term.whole in tokens or (len(term.stream) > 1 and side_by_side(term.stream, stream))


def found(text: str, query: str) -> bool:
    """Whether every term is in the text; stop words count only where the query has nothing else."""
    asked = terms(query)
    asked = [term for term in asked if not term.stop] or asked
    stream, wholes = analyse(text)
    return bool(asked) and all(matches(term, stream, wholes) for term in asked)


PYTHON = "from shop.cart_items import CartItem; cart.addItem(item_id=7)"
WINDOWS = r"see C:\src\my-app\main_window.cpp, line 12"
URL = "GET https://api.example.org:8443/v2/users?sort=name&limit=20 failed"
UUID = "session 9c3a23cd-e67a-4b75-bc39-47249fc2d0a1 ended"
COMMIT = "commit 4f2a9c1e7b80d35a6c9e1f204b7d8a3c5e6f7081"
CHINESE = "修复了登录超时的问题"
JAPANESE = "データベースへの接続に失敗しました。再試行します"
KOREAN = "데이터베이스 연결에 실패했습니다"

FOUND = [
    # cases.md A: identifiers and paths, typed whole
    ("this is the wrong-book", "wrong-book"),
    ("saved to Downloads/transcripts today", "Downloads/transcripts"),
    ("~/Downloads/transcripts/a.txt", "Downloads/transcripts"),
    ("run ask-codex now", "ask-codex"),
    ("run ask codex now", "ask-codex"),
    ("def atomic_write_json(path):", "atomic_write_json"),
    ("def atomic_write_json(path):", "atomic"),
    ("def atomic_write_json(path):", "write"),
    ("def atomic_write_json(path):", "json"),
    ("the resolver in src/lib/i18n.ts", "resolver src/lib/i18n.ts"),
    ("the resolver in src/lib/i18n.ts", "lib/i18n"),
    ("the resolver in src/lib/i18n.ts", "i18n.ts"),
    ("the resolver in src/lib/i18n.ts", "i18n"),
    ("npm install @scope/pkg", "@scope/pkg"),
    ("npm install @scope/pkg", "scope/pkg"),
    ("npm install @scope/pkg", "pkg"),
    ("open proto://x", "proto://x"),
    ("ticket DEC-0054 is closed", "DEC-0054"),
    ("ticket DEC-0054 is closed", "0054"),
    ("ticket DEC-0054 is closed", "dec-0054"),
    ("upgrade to 1.0.21 today", "1.0.21"),
    ("upgrade to v1.0.21 today", "1.0.21"),
    ("upgrade to v1.0.21 today", "v1.0.21"),
    ("call getUserById(7)", "user by id"),
    ("call getUserById(7)", "user"),
    ("call getUserById(7)", "getUserById"),
    ("call getUserById(7)", "getuserbyid"),
    ("call getuserbyid(7)", "getUserById"),
    ("call get_user_by_id(7)", "getUserById"),
    ("we get user by id", "getUserById"),
    ("class HTTPSConnection:", "HTTPSConnection"),
    ("class HTTPSConnection:", "https connection"),
    ("an HTTPS connection", "HTTPSConnection"),
    # identifiers in other styles
    (PYTHON, "cart_items"),
    (PYTHON, "shop.cart_items"),
    (PYTHON, "CartItem"),
    (PYTHON, "cartitem"),
    (PYTHON, "cart items"),
    (PYTHON, "addItem"),
    (PYTHON, "cart.addItem"),
    (PYTHON, "item_id"),
    ("MAX_RETRY_COUNT = 5", "max_retry_count"),
    ("MAX_RETRY_COUNT = 5", "retry count"),
    ("kebab-case-name", "kebab-case"),
    ("std::vec::Vec::with_capacity", "Vec::with_capacity"),
    ("std::vec::Vec::with_capacity", "with_capacity"),
    ("java.util.concurrent.ConcurrentHashMap", "ConcurrentHashMap"),
    ("java.util.concurrent.ConcurrentHashMap", "hash map"),
    ("java.util.concurrent.ConcurrentHashMap", "util.concurrent"),
    ("def __init__(self):", "__init__"),
    ("def __init__(self):", "init"),
    ("self._private_name", "_private_name"),
    ("self._private_name", "private_name"),
    ("XMLHttpRequest and parseXML", "XMLHttpRequest"),
    ("XMLHttpRequest and parseXML", "http request"),
    ("XMLHttpRequest and parseXML", "xml"),
    ("a list of URLs", "url"),
    ("a list of URLs", "urls"),
    ("pushed to GitHub", "github"),
    ("pushed to github", "GitHub"),
    ("written in TypeScript", "typescript"),
    ("postgresql is down", "PostgreSQL"),
    ("the DataBases", "databases"),
    ("getV2ApiK8sClient()", "client"),
    ("getV2ApiK8sClient()", "getV2ApiK8sClient"),
    ("useEffect(() => {}, [])", "useEffect"),
    ("<button className='x' onClick={go}>", "onClick"),
    ("fn main() -> Result<(), anyhow::Error>", "anyhow::Error"),
    ("$this->userRepository->find", "userRepository"),
    ("--no-sync was given", "--no-sync"),
    ("--no-sync was given", "no-sync"),
    ("export OPENAI_BASE_URL=x", "OPENAI_BASE_URL"),
    ("object.member.function", "member.function"),
    ("i++ and count++", "count"),
    ("i++ and count++", "count++"),
    ("we use C++ here", "C++"),
    ("we use c++17 here", "C++"),
    ("we use C# here", "C#"),
    ("we use C#, F# here", "F#"),
    ("node.js and e.g. deno", "node.js"),
    ("It is done.Then go", "done"),
    ("It is done.Then go", "then done"),
    ("use libc++.so", "libc++"),
    # paths
    (WINDOWS, r"C:\src\my-app\main_window.cpp"),
    (WINDOWS, "C:/src/my-app/main_window.cpp"),
    (WINDOWS, r"my-app\main_window.cpp"),
    (WINDOWS, "main_window.cpp"),
    (WINDOWS, "main_window"),
    (r'"C:\\src\\my-app"', r"C:\src\my-app"),
    ("/home/dev/src/erst/cli.py:12", "src/erst/cli.py"),
    ("/home/dev/src/erst/cli.py:12", "cli.py:12"),
    ("/home/dev/src/erst/cli.py:12", "/home/dev"),
    ("/usr/bin/", "/usr/bin"),
    ("./run.sh", "run.sh"),
    ("edit .gitignore", ".gitignore"),
    ("edit .env.local", ".env"),
    ("src/**/*.test.ts", "test.ts"),
    ("src/**/*.test.ts", "*.test.ts"),
    ("git@host.org:team/repo.git", "team/repo"),
    ("file:///tmp/a.txt", "/tmp/a.txt"),
    # versions, codes, numbers
    ("error[E0502]: cannot borrow", "E0502"),
    ("error[E0502]: cannot borrow", "e0502"),
    ("error[E0502]: cannot borrow", "0502"),
    ("error TS2345: Argument", "TS2345"),
    ("ORA-00942: table", "ORA-00942"),
    ("HTTP 404", "404"),
    ("HTTP/1.1 404", "http/1.1"),
    ("python-3.12.1rc2", "3.12"),
    ("sha256:abc", "sha256"),
    ("sha 256", "sha256"),
    ("encoded as utf8", "utf-8"),
    ("encoded as UTF-8", "utf8"),
    ("port 8080", "8080"),
    ("took 3.5s", "3.5"),
    ("took 100ms", "100ms"),
    ("on 2026-11-03T08:15:00Z", "2026-11-03"),
    ("x86_64-unknown-linux-gnu", "x86_64"),
    ("issue #1234", "#1234"),
    ("owner/repo#1234", "repo#1234"),
    ("0x7ffdeadbeef", "0x7ffdeadbeef"),
    ("\x1b[31mFAILED\x1b[0m tests", "failed"),
    # hashes, e-mail, addresses
    (COMMIT, "4f2a9c1e7b80d35a6c9e1f204b7d8a3c5e6f7081"),
    (UUID, "9c3a23cd-e67a-4b75-bc39-47249fc2d0a1"),
    (UUID, "9c3a23cd"),
    (UUID, "e67a-4b75"),
    ("needle zqf5ff61d7b5 here", "zqf5ff61d7b5"),
    ("mail dev.one@mail.example.org", "dev.one@mail.example.org"),
    ("mail dev.one@mail.example.org", "mail.example.org"),
    ("<dev@example.org>", "dev@example.org"),
    (URL, "https://api.example.org:8443/v2/users"),
    (URL, "api.example.org"),
    (URL, "v2/users"),
    (URL, "limit"),
    ("127.0.0.1:8377", "127.0.0.1"),
    ("fe80::1", "fe80::1"),
    # CJK
    (CHINESE, "登录超时"),
    (CHINESE, "登录"),
    (CHINESE, "登"),
    (CHINESE, CHINESE),
    ("新增用户表", "用户"),
    ("the db is down", "db"),
    ("重跑gen-report后再试", "gen-report"),
    ("重跑gen-report后再试", "重跑"),
    ("重跑gen-report后再试", "再试"),
    ("重跑gen-report后再试", "重跑gen-report后再试"),
    ("使用API接口，版本2", "API接口"),
    ("第3章", "第3章"),
    ("打开 文档/用户手册.md", "文档/用户手册.md"),
    ("繁體中文檢索", "檢索"),
    (JAPANESE, "接続"),
    (JAPANESE, "データベース"),
    (JAPANESE, "失敗しました"),
    (JAPANESE, "ﾃﾞｰﾀﾍﾞｰｽ"),
    ("ﾃﾞｰﾀ", "データ"),
    ("佐々木さん", "佐々木"),
    ("〇〇株式会社", "〇〇"),
    ("Pythonで書く", "Python"),
    (KOREAN, "연결"),
    (KOREAN, "데이터베이스"),
    (KOREAN, "실패"),
    ("서버를 재시작", "서버"),
    ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
    ("𠮷野家で", "𠮷野"),
    ("葛\U000e0100城市", "葛城"),
    ("ＡＰＩ　１２３", "API 123"),
    ("ｓｒｃ／ｌｉｂ", "src/lib"),
    ("㌔メートル", "キロ"),
    # other scripts
    ("un café noir", "café"),
    ("un cafe\u0301 noir", "caf\u00e9"),
    ("DIE STRASSE", "Straße"),
    ("die Straße", "strasse"),
    ("İstanbul", "İSTANBUL"),
    ("ΟΔΟΣ", "οδος"),
    ("ὁ λόγος", "ΛΌΓΟΣ"),
    ("Ошибка подключения к базе", "ошибка базе"),
    ("ОШИБКА", "ошибка"),
    ("خطأ في الاتصال", "الاتصال"),
    ("خَطَأ", "خَطَأ"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("שגיאה בחיבור", "שגיאה"),
    ("हिन्दी भाषा।", "हिन्दी"),
    ("हिन्दी भाषा।", "भाषा"),
    ("ภาษาไทย ใช้ได้", "ใช้ได้"),
    ("lỗi kết nối", "kết nối"),
    ("ready 🚀 go", "ready go"),
    ("👍done", "done"),
    ("1\ufe0f\u20e3 first", "1"),
    ("the ﬁle", "file"),
    ("soft\u00adware", "software"),
    ("it’s don’t", "don’t it’s"),
    ("naïve", "NAÏVE"),
    # stems and stop words
    ("the handshake failed", "handshakes"),
    ("three handshakes fail", "handshake failed"),
    ("it is running", "run"),
    ("it will run", "running"),
    ("connection errors", "connected error"),
    ("queries", "query"),
    ("retry", "retries"),
    ("the index is built", "what is the index"),
    ("happy paths", "happiness path"),
    ("to be or not", "not to be"),
    # odd input
    ("a\0after", "after"),
    ("cut \udcb2 here", "cut here"),
    ('a"b', 'a"b'),
    ("x" * 300, "x" * 300),
    ("x" * 300 + "/" + "y" * 300, "x" * 300 + "/" + "y" * 300),
]

NOT_FOUND = [
    ("HTTPS was down for Connection 4", "HTTPSConnection"),
    ("alpha and beta", "wrong-book"),
    ("only ask here, codex later", "ask-codex"),
    ("json first, then write, atomic", "atomic_write_json"),
    ("by id, get the user", "getUserById"),
    ("src and lib of i18n", "src/lib/i18n.ts"),
    ("lib/src/i18n.ts", "src/lib/i18n.ts"),
    ("1.0.2", "1.0.21"),
    ("1.0.212", "1.0.21"),
    ("21 of 1, 0", "1.0.21"),
    ("DEC-0055", "DEC-0054"),
    ("DEC-00540", "0054"),
    ("E0503", "E0502"),
    ("sha512", "sha256"),
    ("plan c", "C++"),
    ("plan c", "C#"),
    ("C++", "C#"),
    ("the init method", "__init__"),
    ("4f2a9c1e7b80", "4f2a9c1e7b81"),
    (COMMIT, "4f2a9c1"),
    (COMMIT, "7b80"),
    (UUID, "9c3a23cd-e67a-4b75-bc39-47249fc2d0a2"),
    ("zqf5ff61d7b5", "zqf"),
    ("登录超长时间", "登录超时"),
    ("登录", "录登"),
    ("超时登录", "登录超时"),
    ("登,录", "登录"),
    ("登录", "登陆"),
    ("繁体中文", "繁體"),
    ("バ", "ハ"),
    ("カタカナ", "かたかな"),
    ("東京都", "京東"),
    ("실패", "성공"),
    ("cafe", "café"),
    ("ohne umlaut: uber", "über"),
    ("istanbul", "İstanbul"),
    ("Ошибка", "ошибки"),
    ("universe", "universes2"),
    ("handset", "handshake"),
    ("runtime", "run"),
    ("GitLab", "github"),
    ("git and the hub of it", "GitHub"),
    ("users", "superuser"),
    ("dev@example.net", "dev@example.org"),
    ("proto://y", "proto://x"),
    ("scope2/pkg", "@scope/pkg"),
    ("x" * 300, "x" * 299),
    ("anything", ""),
    ("anything", "   "),
    ("anything", '"'),
    ("anything", '"*"'),
    ("anything", "("),
    ("anything", "*"),
    ("anything", "-"),
    ("anything", "a" * 10_000),
    ("anything 🚀", "🚀"),
    ("anything _", "__"),
]


@pytest.mark.parametrize(("text", "query"), FOUND)
def test_a_text_is_found_by_what_it_holds(text: str, query: str) -> None:
    assert found(text, query), (analyse(text), terms(query))


@pytest.mark.parametrize(("text", "query"), NOT_FOUND)
def test_a_near_miss_is_not_found(text: str, query: str) -> None:
    assert not found(text, query), (analyse(text), terms(query))


def test_the_parts_of_a_path_stand_side_by_side_and_its_wholes_beside_the_stream() -> None:
    stream, wholes = analyse("in src/lib/i18n.ts line")
    assert stream == ["in", "src", "lib", "i", "18", "n", "ts", "line"]
    assert wholes == ["src/lib/i18n.ts", "i18n"]


def test_a_cjk_run_is_its_characters_with_the_pairs_between_them() -> None:
    assert analyse("登录超时").stream == ["登", "登录", "录", "录超", "超", "超时", "时"]
    (term,) = terms("登录超时")
    assert (term.kind, term.strong) == ("cjk", ("登录", "录超", "超时"))
    assert terms("登")[0].strong == ("登",)


def test_a_long_cjk_text_gives_the_tokens_of_its_short_pieces() -> None:
    """Runs above and below the length at which the compiled class takes over."""
    short = ["葛\U000e0100城", "か\u3099き", "foo\ufe0fbar", "漢\u0301字", "data数据.ts", "a\u0301b用\u200d户"]
    glued = "、".join(short * 3)
    assert analyse(glued) == analyse(" ".join(short * 3))


def test_terms_say_what_was_typed_and_what_it_is() -> None:
    assert [(term.text, term.kind, term.whole, term.stop) for term in terms("the ＡＢＣ src/Main.kt 用户")] == [
        ("the", "word", None, True),
        ("ＡＢＣ", "word", None, False),
        ("src/Main.kt", "compound", "src/main.kt", False),
        ("用户", "cjk", None, False),
    ]


def test_exact_forms_stay_apart_where_stems_do_not() -> None:
    assert exact("Handshakes in GetUsers") == ["handshakes", "in", "get", "users"]
    assert analyse("handshakes").stream == analyse("handshake").stream


def test_a_blob_is_one_short_token() -> None:
    blob = "aGVsbG8gd29ybGQhIQ" * 4000
    stream, wholes = analyse(f"data:image/png;base64,{blob}")
    assert sum(map(len, stream + wholes)) < 200
    assert found(f"x {blob} y", blob)


def test_a_long_test_name_is_still_cut_into_words() -> None:
    name = (
        "tests/test_sync.py::test_a_failed_reread_keeps_the_previous_version_searchable_when_the_disk_is_full_or_slow"
    )
    assert len(name) < 128
    assert found(name, "reread previous version")
    assert found(f"/home/dev/some/where/deep/in/the/tree/{name}", "reread previous version disk")


def test_a_whole_that_is_too_long_is_left_out_and_its_parts_stay() -> None:
    path = "/".join(["folder"] * 40)
    assert max(map(len, analyse(path).wholes), default=0) <= 200
    assert terms(path)[0].whole is None
    assert found(path, "folder/folder")


def test_packed_tokens_are_four_bytes_each_stream_first() -> None:
    tokens = analyse("a GitHub repo 用户")
    packed = pack(tokens)
    assert len(packed) == 4 * (len(tokens.stream) + len(tokens.wholes))
    assert packed == b"".join(crc32(token.encode()).to_bytes(4, "little") for token in (*tokens.stream, *tokens.wholes))
    assert key("\ud800") != key("x")


def test_the_stop_words_are_the_118_and_each_is_a_plain_word() -> None:
    assert len(STOP_WORDS) == 118
    assert all([term.stop for term in terms(word)] == [True] for word in STOP_WORDS)


def test_spans_point_at_the_words_of_the_text_as_given() -> None:
    text = "Ｓｅｅ ﾃﾞｰﾀ in my_file.py"
    places = {text[start:end]: tokens for start, end, tokens in spans(text)}
    assert places["Ｓｅｅ"] == ("see",)
    assert places["ﾃﾞｰ"] == ("デー",)
    assert places["my_file.py"] == ("my_file.py",)
    assert places["file"] == ("file",)


# -- any text ----------------------------------------------------------------------------------------------------------

WORDS = [
    "getUserById",
    "a_b",
    "src/lib",
    "C++",
    "x#",
    "1.0",
    "A",
    "z",
    "9",
    "ß",
    "İ",
    "Ω",
    "²",
    "½",
    "℅",
    "ﷺ",
    "क",
    "Ⅳ",
]
CJK = ["登录", "か", "한", "ﾃﾞ", "\u1100", "\u1161", "\u3099", "\U000e0100", "。"]
MARKS = ["e\u0301", "\u0301", "\u093e", "\u0964", "\u037e", "\u00ad", "\u200d", "\ufe0f", "🚀"]
CONTROLS = ["\0", "\udcb2", "\x1b[31m", "\x1b", " ", "\n", "-", ".", "#", "+", "_", "\\", "'"]
PIECES = st.sampled_from([*WORDS, *CJK, *MARKS, *CONTROLS])
TEXTS = st.one_of(st.text(alphabet=st.characters(codec=None), max_size=60), st.lists(PIECES, max_size=14).map("".join))


@given(TEXTS)
def test_no_text_raises_and_the_same_text_gives_the_same_tokens(text: str) -> None:
    tokens = analyse(text)
    assert tokens == analyse(text)
    assert len(pack(tokens)) == 4 * (len(tokens.stream) + len(tokens.wholes))
    assert len(exact(text)) == len(tokens.stream)
    assert all(token and not any(map(str.isspace, token)) for token in (*tokens.stream, *tokens.wholes))


@given(TEXTS)
def test_every_token_of_the_terms_is_in_the_document(text: str) -> None:
    stream, wholes = analyse(text)
    asked = terms(text)
    assert [token for term in asked for token in term.stream] == stream
    assert {term.whole for term in asked if term.whole is not None} <= set(wholes)
    assert all(matches(term, stream, wholes) for term in asked)


@given(TEXTS)
def test_any_run_between_spaces_is_found_in_its_text(text: str) -> None:
    stream, wholes = analyse(text)
    for run in text.split():
        assert all(matches(term, stream, wholes) for term in terms(run))


@given(TEXTS)
def test_spans_are_ordered_inside_the_text_and_hold_the_tokens_of_the_document(text: str) -> None:
    stream, wholes = analyse(text)
    places = list(spans(text))
    starts = [start for start, _, _ in places]
    assert starts == sorted(starts)
    assert all(0 <= start < end <= len(text) for start, end, _ in places)
    assert Counter(token for _, _, tokens in places for token in tokens) == Counter(stream + wholes)
    assert [token for _, _, token in positions(text)] == stream


@given(TEXTS, TEXTS)
def test_a_word_gives_its_tokens_wherever_it_stands(before: str, after: str) -> None:
    stream, wholes = analyse(f"{before} src/myFile_2.ts {after}")
    assert matches(terms("src/myFile_2.ts")[0], stream, wholes)
    assert matches(terms("myFile_2")[0], stream, wholes)
