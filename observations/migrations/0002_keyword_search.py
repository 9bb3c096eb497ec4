"""Keyword search by definer functions, and the approximate index of vectors.

Under row-level security `@@` never uses its index, since its operator is not leakproof. These functions see
past the policies and therefore confine themselves: to the tenant of the open scope, whatever they are asked.
"""

from django.db import migrations

from tenants.isolation import TENANT_MATCHES, DefinerFunction

TENANT = TENANT_MATCHES


def find_function() -> DefinerFunction:
    """`observations_find`: the `most` observations that a query finds, best first by BM25 as in `lexical.bm25`.

    A term that occurs c times has a `ts_rank` of 1 + 1/4 + … + 1/c², over the limit of that sum and the number
    of corpora. What is missing to the limit is 1/(c + 1/2), nearly. A score is all weights less
    `saturation * sum(weight / (c + saturation))`, which is what is sorted by. Planned anew each time (EXECUTE):
    a plan made for any query would read the corpus. IS TRUE keeps the planner from the indexes of tenant and
    corpus: what it takes for a small corpus may have grown since the last ANALYZE, and each lexeme carries the
    mark of its corpus. The statement is written for as many terms as there are, since each costs time on every
    row.
    """
    return DefinerFunction(
        "observations_find(wanted tsquery, terms tsquery[], weights float8[], mean float8, corpora text[],"
        " whose text, in_scope text, of_type text, tagged text[], of_session text, since timestamptz,"
        " until timestamptz, most int)",
        returns="TABLE(id bigint, length int, ranks real[])",
        language="plpgsql",
        reads=["observation_search", "observations_observation"],
        body=f"""
DECLARE scoring text; missed text;
BEGIN
    SELECT string_agg(format('ts_rank(''{{1,1,1,1}}'', s.lexemes, $2[%s])', place), ', '),
           string_agg(format('$3[%1$s] / (round(0.6079271 / greatest(1 - found.ranks[%1$s] * cardinality($5),
                              1e-9) - 0.5) + found.saturation)', place), ' + ')
    INTO scoring, missed FROM generate_series(1, cardinality(terms)) place;
    RETURN QUERY EXECUTE $sql$
        SELECT found.id, found.length, found.ranks FROM (
            SELECT s.id, s.length, ARRAY[$sql$ || scoring || $sql$] AS ranks,
                   1.2 * (0.25 + 0.75 * s.length / $4) AS saturation
            FROM observation_search s
            WHERE s.lexemes @@ $1 AND (s.tenant_id = {TENANT} AND s.corpus = ANY($5)) IS TRUE
              AND ($6 IS NULL OR s.user_id = $6) AND ($7 IS NULL OR s.scope = $7)
              AND ($8 IS NULL OR s.type = $8)
              AND ($11 IS NULL OR s.created_at >= $11) AND ($12 IS NULL OR s.created_at <= $12)
              AND ($9 IS NULL AND $10 IS NULL OR EXISTS (
                  SELECT 1 FROM observations_observation o WHERE o.tenant_id = s.tenant_id AND o.id = s.id
                    AND ($9 IS NULL OR o.tags @> $9) AND ($10 IS NULL OR o.session = $10)))
            OFFSET 0
        ) found
        ORDER BY ($sql$ || missed || $sql$) * found.saturation, found.id DESC LIMIT $13
    $sql$ USING wanted, terms, weights, mean, corpora, whose, in_scope, of_type, tagged, of_session, since,
                until, most;
END""",  # noqa: S608
    )


def count_function() -> DefinerFunction:
    """`observations_count`: how many observations each term finds, in the order of the terms. IS TRUE as in
    `observations_find`."""
    return DefinerFunction(
        "observations_count(terms tsquery[], corpora text[], whose text)",
        returns="SETOF bigint",
        language="plpgsql",
        reads=["observation_search"],
        body=f"""
DECLARE one tsquery;
BEGIN
    FOREACH one IN ARRAY terms LOOP
        RETURN QUERY EXECUTE $sql$
            SELECT count(*) FROM observation_search s
            WHERE s.lexemes @@ $1 AND (s.tenant_id = {TENANT} AND s.corpus = ANY($2)) IS TRUE
              AND ($3 IS NULL OR s.user_id = $3)
        $sql$ USING one, corpora, whose;
    END LOOP;
END""",  # noqa: S608
    )


class Migration(migrations.Migration):
    dependencies = [
        ("observations", "0001_observations"),
    ]

    operations = [
        find_function(),
        count_function(),
        # Half-precision: half the memory, and the order of neighbours is the same but for near ties.
        migrations.RunSQL(
            "CREATE INDEX observation_nearest ON observation_embeddings"
            " USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops)"
            " WHERE model = 'all-MiniLM-L6-v2'",
            "DROP INDEX observation_nearest",
        ),
        # Rows of these tables are read by the hundred: what they are read for is to stand in them.
        migrations.RunSQL(
            "ALTER TABLE observation_search ALTER lexemes SET STORAGE MAIN", migrations.RunSQL.noop
        ),
    ]
