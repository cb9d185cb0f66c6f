{{/* The operator's rights in the namespaces it watches: read our kinds and the objects they name, write only their status, create Events. */}}
{{- define "pergola.operatorRules" -}}
- apiGroups: [pergola.dev]
  resources: ["*"]
  verbs: [list, watch]
- apiGroups: [pergola.dev]
  resources: ["*/status"]
  verbs: [patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [""]
  resources: [secrets, configmaps]
  verbs: [list, watch]
{{- end }}

{{/* Granted only with operator.waitingDeletion: `waitForDeletion` adds a finalizer, which is a write to the resource. */}}
{{- define "pergola.finalizerRules" -}}
- apiGroups: [pergola.dev]
  resources: {{ splitList " " (include "pergola.plurals" . | trim) | toJson }}
  verbs: [patch]
{{- end }}

{{/* Only cluster-wide: definitions have no namespace. Says whether resources were deleted with the definition of their kind. */}}
{{- define "pergola.definitionRules" -}}
{{- $names := list }}
{{- range splitList " " (include "pergola.plurals" . | trim) }}{{ $names = append $names (printf "%s.pergola.dev" .) }}{{ end }}
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  resourceNames: {{ $names | toJson }}
  verbs: [get]
{{- end }}

{{/* The plurals of the kinds that concern the whole engine. */}}
{{- define "pergola.enginePlurals" -}}
{{- range $path, $text := .Files.Glob "files/crds/*.yaml" }}
{{- if regexMatch "(?m)^    pergola.dev/concerns: engine$" (toString $text) }}{{ base $path | trimSuffix ".yaml" }} {{ end }}
{{- end }}
{{- end }}

{{/* The plurals of our kinds, from the names of the definitions' files. */}}
{{- define "pergola.plurals" -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}{{ base $path | trimSuffix ".yaml" }} {{ end }}
{{- end }}
