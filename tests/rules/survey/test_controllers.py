"""The filters of Rails' controllers before the routes that lead to them."""

from __future__ import annotations

import textwrap

import pytest

from tests.rules.survey.test_mounts import survey_of

_APPLICATION = """
class ApplicationController < ActionController::Base
  include Authentication
  before_action :set_locale
  before_action :require_login
  before_action :track, if: :tracked?
end
"""
_AUTHENTICATION = """
module Authentication
  extend ActiveSupport::Concern
  included do
    before_action :require_session
  end
  class_methods do
    def allow_unauthenticated_access(**options)
      skip_before_action :require_session, **options
    end
  end
end
"""


def routes(drawn: str, **controllers: str) -> list[str]:
    """The routes with what stands before them; a controller is given by its path, with `__` for a slash."""
    indented = textwrap.indent(textwrap.dedent(drawn), "  ")
    files = {
        "config/routes.rb": f"Rails.application.routes.draw do\n{indented}\nend\n",
        "app/controllers/application_controller.rb": _APPLICATION,
        "app/controllers/concerns/authentication.rb": _AUTHENTICATION,
        **{f"app/controllers/{path.replace('__', '/')}_controller.rb": text for path, text in controllers.items()},
    }
    return [" ".join((each.method, each.route, *each.middleware)) for _, each in survey_of(files).endpoints]


def test_a_route_stands_behind_the_filters_that_its_controller_inherits_and_includes() -> None:
    users = "class UsersController < ApplicationController\n  before_action :require_owner, only: %i[update]\nend\n"
    found = routes("resources :users, only: [:index, :update]", users=users)
    assert found == [
        "GET /users require_session require_login",
        "PATCH /users/:id require_session require_login require_owner",
    ]


@pytest.mark.parametrize(
    ("lifts", "shown"),
    [
        ("skip_before_action :require_login, only: :index", "require_session"),
        ("skip_before_action :require_login, except: :index", "require_session require_login"),
        ("allow_unauthenticated_access only: %i[index]", "require_login"),
        ("allow_unauthenticated_access", "require_login"),
        # Rails keeps the filter that is declared last (`ActiveSupport::Callbacks`).
        ("before_action :require_login, only: %i[show]", "require_session"),
        ("before_action :require_session, only: %i[index]", "require_login require_session"),
    ],
)
def test_a_controller_may_lift_what_it_inherits(lifts: str, shown: str) -> None:
    home = f"class HomeController < ApplicationController\n  {lifts}\nend\n"
    assert routes('get "/about" => "home#index"', home=home) == [f"GET /about {shown}"]


@pytest.mark.parametrize(
    ("drawn", "route"),
    [
        ("namespace :admin do\n  resource :setting, only: :show\nend", "GET /admin/setting"),
        ('scope "/manage", module: :admin do\n  get "setting", to: "settings#show"\nend', "GET /manage/setting"),
        ('get "/x", controller: "admin/settings", action: :show', "GET /x"),
        (
            "namespace :admin do\n  resources :settings, only: [] do\n    member { get :show }\n  end\nend",
            "GET /admin/settings/:id/show",
        ),
        ('get "admin/settings/show"', "GET /admin/settings/show"),
    ],
)
def test_the_controller_of_a_route_is_found_in_the_modules_around_it(drawn: str, route: str) -> None:
    settings = "module Admin\n  class SettingsController < BaseController\n    before_action :audit\n  end\nend\n"
    base = "class Admin::BaseController < ApplicationController\n  before_action :require_admin\nend\n"
    found = routes(drawn, admin__settings=settings, admin__base=base)
    assert found == [f"{route} require_session require_login require_admin audit"]


def test_routes_whose_controller_is_unknown_are_no_exceptions() -> None:
    drawn = "\n".join(f'get "/{name}" => "home#{name}"' for name in ("a", "b", "c"))
    home = "class HomeController < ApplicationController\nend\n"
    files = {
        "config/routes.rb": f"Rails.application.routes.draw do\n{drawn}\nget '/old', to: redirect('/a')\nend\n",
        "app/controllers/application_controller.rb": _APPLICATION,
        "app/controllers/home_controller.rb": home,
    }
    found = next(each for each in survey_of(files).middleware if "stand behind" in each.claim)
    assert found.claim.startswith("Routes whose controller was found stand behind")
    assert (found.count, found.total, found.exceptions) == (3, 3, ())


def test_the_routes_that_devise_makes_are_unknown() -> None:
    files = {"config/routes.rb": "Rails.application.routes.draw do\n  devise_for :users\nend\n"}
    assert [place.line for place in survey_of(files).unknown_routes] == [2]
