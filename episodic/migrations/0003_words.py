"""The words of episodes, their search by a definer function, and the words of what was stored before.

Under row-level security `@@` never uses its index, since its operator is not leakproof. The functions see past
the policies and therefore confine themselves to the tenant of the open scope, whatever they are asked.
"""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from tenants.isolation import TENANT_MATCHES, DefinerFunction, IsolateTable

BATCH = 1_000


def find_function() -> DefinerFunction:
    """`episodes_find`: the `most` episodes that a query finds, best first by BM25 as `observations_find` scores
    it; `marks` is the number of corpora. Planned anew each time (EXECUTE): a plan made for any query would read
    the subject."""
    return DefinerFunction(
        "episodes_find(wanted tsquery, terms tsquery[], weights float8[], mean float8, marks int, whose text,"
        " of_agent text, ended boolean, of_project text, of_session text, in_namespace text, types text[],"
        " tagged text[], since timestamptz, until timestamptz, at timestamptz, most int)",
        returns="TABLE(id uuid, length int, ranks real[])",
        language="plpgsql",
        reads=["episode_search", "agent_episodes"],
        body=f"""
DECLARE scoring text; missed text; further text := '';
BEGIN
    SELECT string_agg(format('ts_rank(''{{1,1,1,1}}'', s.lexemes, $2[%s])', place), ', '),
           string_agg(format('$3[%1$s] / (round(0.6079271 / greatest(1 - found.ranks[%1$s] * $5, 1e-9) - 0.5)
                              + found.saturation)', place), ' + ')
    INTO scoring, missed FROM generate_series(1, cardinality(terms)) place;
    IF num_nonnulls(of_project, of_session, in_namespace, types, tagged, since, until, at) > 0 THEN
        further := 'AND EXISTS (
            SELECT 1 FROM agent_episodes e WHERE e.tenant_id = s.tenant_id AND e.id = s.id
              AND ($9 IS NULL OR e.project = $9) AND ($10 IS NULL OR e.session = $10)
              AND ($11 IS NULL OR e.namespace = $11) AND ($12 IS NULL OR e.memory_type = ANY($12))
              AND ($13 IS NULL OR e.topics && $13)
              AND ($14 IS NULL OR coalesce(e.event_date, e.created_at) >= $14)
              AND ($15 IS NULL OR coalesce(e.event_date, e.created_at) <= $15)
              AND ($16 IS NULL OR coalesce(e.valid_from, e.created_at) <= $16
                                  AND (e.valid_to IS NULL OR e.valid_to > $16)))';
    END IF;
    RETURN QUERY EXECUTE $sql$
        SELECT found.id, found.length, found.ranks FROM (
            SELECT s.id, s.length, ARRAY[$sql$ || scoring || $sql$] AS ranks,
                   1.2 * (0.25 + 0.75 * s.length / $4) AS saturation
            FROM episode_search s
            WHERE s.lexemes @@ $1 AND (s.tenant_id = {TENANT_MATCHES}) IS TRUE
              AND ($6 IS NULL OR s.user_id = $6) AND ($7 IS NULL OR s.agent_id = $7)
              AND ($8 OR s.valid_to IS NULL OR s.valid_to > now())
              $sql$ || further || $sql$
            OFFSET 0
        ) found
        ORDER BY ($sql$ || missed || $sql$) * found.saturation, found.id DESC LIMIT $17
    $sql$ USING wanted, terms, weights, mean, marks, whose, of_agent, ended, of_project, of_session,
                in_namespace, types, tagged, since, until, at, most;
END""",  # noqa: S608
    )


def count_function() -> DefinerFunction:
    """`episodes_count`: in how many episodes each term stands, in the order of the terms."""
    return DefinerFunction(
        "episodes_count(terms tsquery[], whose text, of_agent text)",
        returns="SETOF bigint",
        language="plpgsql",
        reads=["episode_search"],
        body=f"""
DECLARE one tsquery;
BEGIN
    FOREACH one IN ARRAY terms LOOP
        RETURN QUERY EXECUTE $sql$
            SELECT count(*) FROM episode_search s
            WHERE s.lexemes @@ $1 AND (s.tenant_id = {TENANT_MATCHES}) IS TRUE
              AND ($2 IS NULL OR s.user_id = $2) AND ($3 IS NULL OR s.agent_id = $3)
        $sql$ USING one, whose, of_agent;
    END LOOP;
END""",  # noqa: S608
    )


def index_stored(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Enters the words of what is stored already, as the owner of the tables."""
    from episodic.indexing import entry_of

    Episode, Words = apps.get_model("episodic", "Episode"), apps.get_model("episodic", "EpisodeWords")
    alias, last = schema_editor.connection.alias, None
    names = [field.attname for field in Words._meta.concrete_fields]
    while True:
        stored = Episode.objects.using(alias).order_by("id")
        page = list((stored if last is None else stored.filter(id__gt=last))[:BATCH])
        if not page:
            return
        entries = map(entry_of, page)
        Words.objects.using(alias).bulk_create(
            Words(**{name: getattr(one, name) for name in names}) for one in entries
        )
        last = page[-1].id


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0002_memory_hierarchy"),
        ("tenants", "0005_agents"),
    ]

    operations = [
        migrations.CreateModel(
            name="EpisodeWords",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("user_id", models.CharField(blank=True, max_length=255)),
                ("agent_id", models.CharField(blank=True, max_length=255)),
                (
                    "thread",
                    models.UUIDField(help_text="Stands for its session; null: it is of none.", null=True),
                ),
                (
                    "place",
                    models.BigIntegerField(
                        help_text="Of a verbatim turn: its number in the session.", null=True
                    ),
                ),
                (
                    "speaker",
                    models.CharField(blank=True, help_text="The lexeme of who said it.", max_length=64),
                ),
                (
                    "names",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        default=list,
                        help_text="Its entities and topics.",
                        size=None,
                    ),
                ),
                ("asks", models.BooleanField(help_text="It ends as a question.")),
                ("tells_time", models.BooleanField(help_text="It holds a word of time.")),
                ("happened_at", models.DateTimeField()),
                ("created_at", models.DateTimeField(help_text="The episode's.")),
                ("valid_to", models.DateTimeField(help_text="The episode's.", null=True)),
                ("length", models.IntegerField(help_text="Number of lexemes.")),
                ("lexemes", django.contrib.postgres.search.SearchVectorField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "db_table": "episode_search",
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        fastupdate=False, fields=["lexemes"], name="episode_lexemes"
                    ),
                    models.Index(
                        fields=["tenant", "user_id"],
                        include=("length", "happened_at", "speaker"),
                        name="episode_search_user",
                    ),
                    models.Index(
                        fields=["tenant", "agent_id", "user_id"],
                        include=("length", "happened_at", "speaker"),
                        name="episode_search_agent",
                    ),
                    models.Index(
                        condition=models.Q(("place__isnull", False)),
                        fields=["tenant", "thread", "place"],
                        name="episode_search_place",
                    ),
                ],
            },
        ),
        IsolateTable("episode_search", references=[("id", "agent_episodes")]),
        find_function(),
        count_function(),
        # Rows of this table are read by the hundred: what they are read for is to stand in them.
        migrations.RunSQL(
            "ALTER TABLE episode_search ALTER lexemes SET STORAGE MAIN", migrations.RunSQL.noop
        ),
        migrations.RunPython(index_stored, migrations.RunPython.noop),
    ]
