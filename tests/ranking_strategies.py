"""Random stores and queries that mix scripts, identifiers and odd characters, for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from wsmem.records import MemoryEntry

NOW = 1_790_000_000_000

WORDS = (
    "gateway Gateways getUserName get_user_name user name restart art RESTART restart.sh "
    "C++ c# is# Node18 node 18 k8s utf8 v1.2.3 1.2.3 8080 :8081 the is not dying die skies "
    "policy policies PostgreSQL postgresql HTTPServer Café cafe naïve ΑΣ.Α σασ İx база д "
    "数据库 数据 据库 库 存储 存 储 桶 配置 API配置 什么 的 我们 端口 口 哈哈哈 データ "
    "サーバー 데이터 🚀 — 。 ， \n \ufdd0 \ufdd1 \ud800 don't user's aaa aa a running run"
).split(" ")

texts = st.lists(
    st.tuples(st.sampled_from(WORDS), st.sampled_from(["", " ", "，", "\n"])), max_size=12
).map(lambda pieces: "".join(word + gap for word, gap in pieces))

entries = st.builds(
    MemoryEntry,
    id=st.sampled_from("abcdefgh"),
    content=texts,
    title=texts,
    description=texts,
    tags=st.lists(texts, max_size=2).map(tuple),
    retrieval_terms=st.lists(texts, max_size=2).map(tuple),
    importance=st.sampled_from([0, 1, 2.5, 9]),
    status=st.sampled_from(["active", "conflict", "deleted"]),
    updated_at=st.sampled_from([None, "2026-08-01T00:00:00.000Z", "2026-09-20T08:00:00.000Z", "?"]),
)
