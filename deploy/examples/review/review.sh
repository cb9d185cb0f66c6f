#!/bin/sh
# Prints what a pull request changes in the API, as Markdown. Exits with 1 when a role would reach more rows than before, when a client would
# break, or when a PermissionTest fails.
# Usage: review.sh BASE HEAD, two folders with resources: those of the branch that is merged into, and those of the pull request.
# In: ENGINE, the URL of an engine that only this review uses, whose database has the schema of HEAD; ENGINE_GRAPHQL_ADMIN_SECRET;
# DATABASE_URL, a Postgres server in which the tests create databases of their own. PERGOLA is the command; default pergola.
set -eu
base=$1
head=$2

${PERGOLA:-pergola} validate -f "$head" >&2
${PERGOLA:-pergola} apply -f "$base" --engine "$ENGINE" >&2

plan=0
${PERGOLA:-pergola} plan -f "$head" --engine "$ENGINE" --fail-on widened --fail-on breaking -o markdown || plan=$?
test=0
${PERGOLA:-pergola} test -f "$head" --database-url "$DATABASE_URL" >&2 || test=$?

# 2 stands for changes, which is what a pull request is for.
[ "$plan" -ne 1 ] && [ "$test" -eq 0 ]
