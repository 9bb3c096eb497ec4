"""Keyword search by definer functions, and the approximate index of vectors.

Under row-level security `@@` never uses its index, since its operator is not leakproof. These functions see
past the policies and therefore confine themselves: to the tenant of the open scope, whatever they are asked.
"""

from django.db import migrations

from tenants.isolation import TENANT_MATCHES, DefinerFunction

# What is seen from a project and by a user: theirs, and what is everybody's. IS TRUE keeps the planner from the
# indexes of these columns: each lexeme carries the mark of its tenant.
SEEN = f"""(c.tenant_id = {TENANT_MATCHES} AND ($1 IS NULL OR c.project IN ('', $1))
 AND ($2 IS NULL OR c.user_id IN ('', $2))) IS TRUE"""


def find_function() -> DefinerFunction:
    """`chunks_find`: the `most` chunks that a query finds, best first by BM25 as in `lexical.bm25`, each with how
    often it holds each term.

    A lexeme that stands c times in a text has a `ts_rank` of 1 + 1/4 + … + 1/c², over the limit of that sum.
    What is missing to the limit is 1/(c + 1/2), nearly: to read c back from it takes a tenth of the time that
    unnesting the vector takes. Planned anew each time (EXECUTE): a plan made for any query would read every
    chunk.
    """
    return DefinerFunction(
        "chunks_find(of_project text, of_user text, wanted tsquery, terms tsquery[], weights float8[],"
        " mean float8, documents uuid[], most int)",
        returns="TABLE(id uuid, length int, counts int[])",
        language="plpgsql",
        reads=["knowledge_chunk"],
        body=f"""
DECLARE counting text; scoring text;
BEGIN
    SELECT string_agg(format('round(0.6079271 / greatest(1 - ts_rank(''{{1,1,1,1}}'', c.lexemes, $4[%s]), 1e-9)'
                             ' - 0.5)::int', place), ', '),
           string_agg(format('$5[%1$s] * 2.2 * found.counts[%1$s] / (found.counts[%1$s] + found.saturation)',
                             place), ' + ')
    INTO counting, scoring FROM generate_series(1, cardinality(terms)) place;
    RETURN QUERY EXECUTE $sql$
        SELECT found.id, found.length, found.counts FROM (
            SELECT c.id, c.length, ARRAY[$sql$ || counting || $sql$] AS counts,
                   1.2 * (0.25 + 0.75 * c.length / $6) AS saturation
            FROM knowledge_chunk c
            WHERE c.lexemes @@ $3 AND {SEEN} AND ($7 IS NULL OR c.document_id = ANY($7))
            OFFSET 0
        ) found
        ORDER BY $sql$ || scoring || $sql$ DESC, found.id LIMIT $8
    $sql$ USING of_project, of_user, wanted, terms, weights, mean, documents, most;
END""",  # noqa: S608
    )


def count_function() -> DefinerFunction:
    """`chunks_count`: how many chunks each term finds, in the order of the terms."""
    return DefinerFunction(
        "chunks_count(of_project text, of_user text, terms tsquery[])",
        returns="SETOF bigint",
        language="plpgsql",
        reads=["knowledge_chunk"],
        body=f"""
DECLARE one tsquery;
BEGIN
    FOREACH one IN ARRAY terms LOOP
        RETURN QUERY EXECUTE $sql$
            SELECT count(*) FROM knowledge_chunk c WHERE c.lexemes @@ $3 AND {SEEN}
        $sql$ USING of_project, of_user, one;
    END LOOP;
END""",  # noqa: S608
    )


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0001_documents_and_procedures"),
    ]

    operations = [
        find_function(),
        count_function(),
        # Half-precision: half the memory, and the order of neighbours is the same but for near ties.
        migrations.RunSQL(
            "CREATE INDEX chunk_nearest ON chunk_embeddings"
            " USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops)"
            " WHERE model = 'all-MiniLM-L6-v2'",
            "DROP INDEX chunk_nearest",
        ),
    ]
