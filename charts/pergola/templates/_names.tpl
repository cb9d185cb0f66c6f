{{/* Names and labels. */}}
{{- define "pergola.fullname" -}}
{{- if .Values.fullnameOverride -}}{{ .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (default .Chart.Name .Values.nameOverride) .Release.Name -}}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name (default .Chart.Name .Values.nameOverride) | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* Of a part of the release: dict "root" . "component" "engine". */}}
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

{{/* A key of a secret, as the value of a variable. */}}
{{- define "pergola.secretKey" -}}
valueFrom:
  secretKeyRef: {name: {{ .existingSecret }}, key: {{ .key }}}
{{- end -}}

{{/* The text of an option's value. Numbers of values are floating. */}}
{{- define "pergola.optionText" -}}
{{- if kindIs "slice" . }}{{ join "," . }}{{ else if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{/* More than one pod at some time: what a disruption may leave. */}}
{{- define "pergola.hasReplicas" -}}
{{- if or (gt (int .replicas) 1) (and .autoscaling .autoscaling.enabled) }}yes{{ end -}}
{{- end -}}
