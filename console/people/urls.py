"""The people whom the memory is about."""

from console.people import views
from console.routes import at

pages = [
    *at("people", views.PeoplePage, "people"),
    *at("people/names", views.NamesPage, "people-names"),
    *at("person", views.PersonPage, "person"),
]
