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

{{/* Plurals of our kinds, of the definitions' files. */}}
{{- define "pergola.plurals" -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}{{ base $path | trimSuffix ".yaml" }} {{ end }}
{{- end }}
