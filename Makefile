# The verbs of this repository. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
NPM := npm
# The project's own Node (24) comes with npm, so that a machine's older one is enough to start.
RUN := npm run --silent

.PHONY: help start docs test check unit generate golden bench speed e2e image chart clean

help: ## this list
	@awk -F':.*## ' '/^[a-z0-9_-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

node_modules/.installed: package.json package-lock.json engine/package.json operator/package.json crds/package.json
	@echo "installing dependencies (once, about half a minute)"
	@$(NPM) ci
	@# Not in a script of npm: `npx pergola` would run it, too.
	@$(RUN) bundle || echo "no bundle was built: pergola serve runs from its sources"
	@touch $@

# The client libraries that testing/clients runs, apart from the project's own packages: they need another GraphQL.
CLIENTS := testing/clients/node_modules
$(CLIENTS)/.installed: testing/clients/package.json testing/clients/package-lock.json
	@echo "installing the clients of testing/clients (once, about half a minute)"
	@$(NPM) ci --ignore-scripts --prefix testing/clients
	@touch $@

start: node_modules/.installed ## Postgres, the engine and the reconcile loop over deploy/examples/library; Ctrl-C stops it
	@node bin/pergola.mjs up deploy/examples/library $(ARGS)

docs: node_modules/.installed ## the documents as a site, at http://127.0.0.1:8090/; Ctrl-C stops it
	@node_modules/.bin/node docs/site/serve.ts $(ARGS)

test: check unit ## everything: types, lint, and every test (pure, Postgres, Kubernetes)

check: node_modules/.installed ## types and lint
	@$(RUN) types
	@$(RUN) lint

unit: node_modules/.installed $(CLIENTS)/.installed ## every test; FILES='engine/sql' runs a part
	@# Builds the API server once where Go is; without it the tests themselves say what they skip.
	@$(RUN) kube >/dev/null || true
	@$(RUN) unit -- $(FILES)

generate: node_modules/.installed ## rewrite what is derived: CRDs, reference docs, values schema
	@$(RUN) generate

golden: node_modules/.installed ## rewrite the golden files; review the diff
	@UPDATE_GOLDEN=1 $(RUN) unit -- golden docs/prose

bench: node_modules/.installed ## time the compile step and the generated statements
	@$(RUN) bench

speed: node_modules/.installed ## measure again all that docs/SPEED.md prints (a quarter of an hour; needs ../shared and Go)
	@$(RUN) speed -- --write
	@$(RUN) compile -- --out docs/speed/compile.json
	@# Both also compare with limits; the figures are written in any case.
	@-$(RUN) size -- --out docs/speed/size.json
	@-$(RUN) stalls -- --out docs/speed/pauses.json
	@-$(RUN) page-speed -- --out docs/speed/pages.json
	@-$(RUN) scale -- --out docs/speed/scale.json
	@node docs/generate.ts

e2e: node_modules/.installed ## the chart on the cluster KUBECONFIG points at (or on kind, where Docker is)
	@deploy/e2e/run

image: ## build the image with BuildKit: IMAGE=pergola:dev
	@docker buildx build -f deploy/Dockerfile -t $(or $(IMAGE),pergola:dev) .

chart: ## lint and render the chart
	@helm lint charts/pergola && helm template pergola charts/pergola >/dev/null

clean: ## remove what was installed and what `make start` keeps
	@rm -rf node_modules $(CLIENTS) .pergola
