{{/* Names and labels. */}}
{{- define "pergola.fullname" -}}
{{- if .Values.fullnameOverride -}}{{ include "pergola.shortened" .Values.fullnameOverride }}
{{- else if contains (default .Chart.Name .Values.nameOverride) .Release.Name -}}{{ include "pergola.shortened" .Release.Name }}
{{- else -}}{{ include "pergola.shortened" (printf "%s-%s" .Release.Name (default .Chart.Name .Values.nameOverride)) }}
{{- end -}}
{{- end -}}

{{/* A name of at most 43 characters: with "-postgres" a StatefulSet may have 52, and with "-engine-replicas" a Service 63. The digest keeps
     apart the names that begin alike. */}}
{{- define "pergola.shortened" -}}
{{- if le (len .) 43 -}}{{ . }}{{- else -}}{{ printf "%s-%s" (. | trunc 36 | trimSuffix "-") (. | sha256sum | trunc 6) }}{{- end -}}
{{- end -}}

{{/* Replaces values that are null or missing (files/when-null.yaml), so that templates read no member of null. Every file that reads values
     includes it first. */}}
{{- define "pergola.fill" -}}
{{- include "pergola.fillIn" (dict "values" .Values "empty" (.Files.Get "files/when-null.yaml" | fromYaml)) -}}
{{- end -}}

{{- define "pergola.fillIn" -}}
{{- $values := .values -}}
{{- range $key, $empty := .empty -}}
{{- if kindIs "invalid" (index $values $key) -}}
{{- $_ := set $values $key (deepCopy $empty) -}}
{{- else if kindIs "map" $empty -}}
{{- include "pergola.fillIn" (dict "values" (index $values $key) "empty" $empty) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The selector labels of a component. Takes dict "root" . "component" "engine". */}}
{{- define "pergola.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "pergola.labels" -}}
{{ include "pergola.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "pergola.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end -}}

{{/* The value of a variable from a key of a secret. */}}
{{- define "pergola.secretKey" -}}
valueFrom:
  secretKeyRef: {name: {{ .existingSecret }}, key: {{ .key }}}
{{- end -}}

{{/* The value of an option as text. Helm parses numbers as floats. */}}
{{- define "pergola.optionText" -}}
{{- if kindIs "slice" . }}{{ join "," . }}{{ else if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{/* Is "yes" if the component can have more than one pod. */}}
{{- define "pergola.hasReplicas" -}}
{{- if or (gt (int .replicas) 1) (and .autoscaling .autoscaling.enabled) }}yes{{ end -}}
{{- end -}}
