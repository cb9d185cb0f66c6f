{{/* The environment variables of the engine: databases, secrets, options, and engine.extraEnv. The admin and console secrets are files,
     because a pod follows changes of files and not of variables. */}}
{{- define "pergola.engineEnv" -}}
{{- $engine := .Values.engine -}}
{{- if .Values.postgres.enabled }}
- name: POSTGRES_PASSWORD
  {{- include "pergola.secretKey" .Values.postgres.password | nindent 2 }}
- name: ENGINE_GRAPHQL_DATABASE_URL
  value: postgres://postgres:$(POSTGRES_PASSWORD)@{{ include "pergola.fullname" . }}-postgres:5432/postgres
{{- else }}
- name: ENGINE_GRAPHQL_DATABASE_URL
  {{- include "pergola.secretKey" $engine.database | nindent 2 }}
{{- end }}
{{- if $engine.metadataDatabase.existingSecret }}
- name: ENGINE_GRAPHQL_METADATA_DATABASE_URL
  {{- include "pergola.secretKey" $engine.metadataDatabase | nindent 2 }}
{{- end }}
- {name: ENGINE_GRAPHQL_ADMIN_SECRET_PATH, value: /run/pergola/admin-secrets}
{{- if $engine.console.secret.existingSecret }}
- {name: ENGINE_GRAPHQL_CONSOLE_SECRET_PATH, value: /run/pergola/console-secrets}
{{- end }}
- {name: ENGINE_GRAPHQL_VALUES_KEY_FILE, value: /run/pergola/values-key/keys}
- {name: ENGINE_GRAPHQL_SERVER_PORT, value: "8080"}
- {name: ENGINE_GRAPHQL_SHUTDOWN_DELAY, value: {{ $engine.preStopSeconds | quote }}}
- {name: ENGINE_GRAPHQL_ENABLE_CONSOLE, value: {{ $engine.console.enabled | quote }}}
{{- $options := $engine.options }}
{{- with .Values.metrics }}
{{- if .enabled }}
{{- $options = merge (dict) $options (dict "enabled-apis" .apis) }}
{{- if not (has "metrics" (index $options "enabled-apis")) }}
{{- fail "metrics.enabled needs metrics among engine.options.enabled-apis" }}
{{- end }}
{{- if .secret.existingSecret }}
- name: ENGINE_GRAPHQL_METRICS_SECRET
  {{- include "pergola.secretKey" .secret | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
{{- range $option, $value := $options }}
{{- if not (kindIs "invalid" $value) }}
- name: ENGINE_GRAPHQL_{{ $option | upper | replace "-" "_" }}
  value: {{ include "pergola.optionText" $value | quote }}
{{- end }}
{{- end }}
{{- range $option, $value := $engine.secretOptions }}
{{- if $value }}
- name: ENGINE_GRAPHQL_{{ $option | upper | replace "-" "_" }}
  {{- include "pergola.secretKey" $value | nindent 2 }}
{{- end }}
{{- end }}
{{- with $engine.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The secret with the keys of named values: the one of the values, else the one that the operator creates. */}}
{{- define "pergola.valuesKeySecret" -}}
{{ .Values.engine.valuesKey.existingSecret | default (printf "%s-values-key" (include "pergola.fullname" .)) }}
{{- end -}}

{{- define "pergola.secretMounts" -}}
- {name: admin-secrets, mountPath: /run/pergola/admin-secrets, readOnly: true}
{{- if .Values.engine.console.secret.existingSecret }}
- {name: console-secrets, mountPath: /run/pergola/console-secrets, readOnly: true}
{{- end }}
- {name: values-key, mountPath: /run/pergola/values-key, readOnly: true}
{{- end -}}

{{/* The volume with the secrets of one kind, a file for each key: name, and secret with existingSecret, key and secondaryKey. */}}
{{- define "pergola.keysVolume" -}}
- name: {{ .name }}
  projected:
    defaultMode: 0440
    sources:
      - secret: {name: {{ .secret.existingSecret }}, items: [{key: {{ .secret.key }}, path: primary}]}
      {{- with .secret.secondaryKey }}
      - secret: {name: {{ $.secret.existingSecret }}, items: [{key: {{ . }}, path: secondary}], optional: true}
      {{- end }}
{{- end -}}

{{- define "pergola.secretVolumes" -}}
{{ include "pergola.keysVolume" (dict "name" "admin-secrets" "secret" .Values.engine.adminSecret) }}
{{- with .Values.engine.console.secret }}
{{- if .existingSecret }}
{{ include "pergola.keysVolume" (dict "name" "console-secrets" "secret" .) }}
{{- end }}
{{- end }}
- name: values-key
  secret:
    secretName: {{ include "pergola.valuesKeySecret" . }}
    defaultMode: 0440
    optional: true
    items: [{key: {{ if .Values.engine.valuesKey.existingSecret }}{{ .Values.engine.valuesKey.key }}{{ else }}values-key{{ end }}, path: keys}]
{{- end -}}
