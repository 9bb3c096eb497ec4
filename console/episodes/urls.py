"""Episodes and entity slots."""

from console.episodes import entity_views, reassigning, views
from console.routes import at

EPISODE = "episodes/<uuid:episode_id>"
ENTITY = "entities/<uuid:entity_id>"

pages = [
    *at("episodes", views.EpisodesPage, "episodes"),
    *at("episodes/new", views.EpisodeNewPage, "episode-new"),
    *at(EPISODE, views.EpisodePage, "episode"),
    *at(f"{EPISODE}/place", views.EpisodePlacePage, "episode-place"),
    *at(f"{EPISODE}/edit", views.EpisodeEditPage, "episode-edit"),
    *at(f"{EPISODE}/reassign", reassigning.EpisodeReassignPage, "episode-reassign"),
    *at(f"{EPISODE}/pin", views.EpisodePinPage, "episode-pin"),
    *at(f"{EPISODE}/delete", views.EpisodeDeletePage, "episode-delete"),
    *at("entities", entity_views.EntitiesPage, "entities"),
    *at("entities/new", entity_views.EntityNewPage, "entity-new"),
    *at(ENTITY, entity_views.EntityPage, "entity"),
    *at(f"{ENTITY}/edit", entity_views.EntityEditPage, "entity-edit"),
    *at(f"{ENTITY}/pin", entity_views.EntityPinPage, "entity-pin"),
    *at(f"{ENTITY}/decide", entity_views.EntityDecidePage, "entity-decide"),
    *at(f"{ENTITY}/delete", entity_views.EntityDeletePage, "entity-delete"),
]
