{{/* Names and labels. */}}
{{- define "pergola.fullname" -}}
{{- if .Values.fullnameOverride -}}{{ .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (default .Chart.Name .Values.nameOverride) .Release.Name -}}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name (default .Chart.Name .Values.nameOverride) | trunc 50 | trimSuffix "-" }}
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
