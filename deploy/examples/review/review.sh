#!/bin/sh
# Prints what a pull request changes in the API, as Markdown, and exits with 1 when a role would reach more rows than before.
# Usage: review.sh BASE HEAD, two folders with resources: those of the branch that is merged into, and those of the pull request.
# In: ENGINE, the URL of an engine that only this review uses, and ENGINE_GRAPHQL_ADMIN_SECRET. Its database has the schema of HEAD.
# PERGOLA is the command; default pergola.
set -eu
base=$1
head=$2

${PERGOLA:-pergola} validate -f "$head" >&2
${PERGOLA:-pergola} apply -f "$base" --engine "$ENGINE" >&2
code=0
${PERGOLA:-pergola} plan -f "$head" --engine "$ENGINE" --fail-on widened -o markdown || code=$?
# 2 stands for changes, which is what a pull request is for.
[ "$code" -eq 2 ] || exit "$code"
