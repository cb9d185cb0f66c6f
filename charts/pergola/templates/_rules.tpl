{{/* What the operator may do where it watches: read our kinds and what they name, write only their status, and tell Events of it. */}}
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

{{/* Only where it is asked for: `waitForDeletion` of a resource is a finalizer, and that is a write to the resource. */}}
{{- define "pergola.finalizerRules" -}}
- apiGroups: [pergola.dev]
  resources: {{ without (splitList " " (include "pergola.plurals" . | trim)) "engines" | toJson }}
  verbs: [patch]
{{- end }}

{{/* Plurals of the kinds that concern the whole engine. */}}
{{- define "pergola.enginePlurals" -}}
{{- range $path, $text := .Files.Glob "files/crds/*.yaml" }}
{{- if regexMatch "(?m)^    pergola.dev/concerns: engine$" (toString $text) }}{{ base $path | trimSuffix ".yaml" }} {{ end }}
{{- end }}
{{- end }}

{{/* Plurals of our kinds, of the definitions' files. */}}
{{- define "pergola.plurals" -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}{{ base $path | trimSuffix ".yaml" }} {{ end }}
{{- end }}
