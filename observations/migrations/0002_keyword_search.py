"""Keyword search by definer functions, and the approximate index of vectors.

Under row-level security `@@` never uses its index, since its operator is not leakproof. These functions see
past the policies and therefore confine themselves: to the tenant of the open scope, whatever they are asked.
"""

from django.db import migrations

from tenants.isolation import TENANT_MATCHES, DefinerFunction

MOST_TERMS = 16  # as many as `observations.querysets` passes
TENANT = TENANT_MATCHES
COUNT_ALL_FIELDS_ALIKE = "'{1,1,1,1}'"


def find_function() -> DefinerFunction:
    """`observations_find`: the `most` observations that a query finds, by an estimate of their BM25.

    The estimate is what `ts_rank` gives for each term, which rises with its occurrences as BM25 does, times the
    term's weight, over the length. Planned anew each time (EXECUTE): a plan made for any query would read the
    corpus.
    """
    ranks = ", ".join(
        f"ts_rank({COUNT_ALL_FIELDS_ALIKE}, s.lexemes, $2[{place}])" for place in range(1, MOST_TERMS + 1)
    )
    estimate = " + ".join(f"coalesce(ranks[{place}] * $3[{place}], 0)" for place in range(1, MOST_TERMS + 1))
    return DefinerFunction(
        "observations_find(wanted tsquery, terms tsquery[], weights float8[], mean float8, corpora text[],"
        " whose text, in_scope text, of_type text, tagged text[], of_session text, since timestamptz,"
        " until timestamptz, most int)",
        returns="TABLE(id bigint, length int, ranks real[])",
        language="plpgsql",
        reads=["observation_search", "observations_observation"],
        body=f"""
BEGIN RETURN QUERY EXECUTE $sql$
    SELECT found.id, found.length, found.ranks FROM (
        SELECT s.id, s.length, ARRAY[{ranks}] AS ranks FROM observation_search s
        WHERE s.tenant_id = {TENANT} AND s.lexemes @@ $1 AND s.corpus = ANY($5)
          AND ($6 IS NULL OR s.user_id = $6) AND ($7 IS NULL OR s.scope = $7) AND ($8 IS NULL OR s.type = $8)
          AND ($11 IS NULL OR s.created_at >= $11) AND ($12 IS NULL OR s.created_at <= $12)
          AND ($9 IS NULL AND $10 IS NULL OR EXISTS (
              SELECT 1 FROM observations_observation o WHERE o.tenant_id = s.tenant_id AND o.id = s.id
                AND ($9 IS NULL OR o.tags @> $9) AND ($10 IS NULL OR o.session = $10)))
        OFFSET 0
    ) found ORDER BY ({estimate}) / (0.25 + 0.75 * found.length / $4) DESC, found.id DESC LIMIT $13
$sql$ USING wanted, terms, weights, mean, corpora, whose, in_scope, of_type, tagged, of_session, since, until,
            most;
END""",  # noqa: S608
    )


def count_function() -> DefinerFunction:
    """`observations_count`: how many observations each term finds, in the order of the terms."""
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
            WHERE s.tenant_id = {TENANT} AND s.lexemes @@ $1 AND s.corpus = ANY($2)
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
