{{/* What the operator may do where it watches: read our kinds and what they name, and write only their status. */}}
{{- define "pergola.operatorRules" -}}
- apiGroups: [pergola.dev]
  resources: ["*"]
  verbs: [list, watch]
- apiGroups: [pergola.dev]
  resources: ["*/status"]
  verbs: [patch]
- apiGroups: [""]
  resources: [secrets, configmaps]
  verbs: [list, watch]
{{- end }}

{{/* Plurals of our kinds, of the definitions' files. */}}
{{- define "pergola.plurals" -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}{{ base $path | trimSuffix ".yaml" }} {{ end }}
{{- end }}
