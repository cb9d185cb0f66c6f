{{/* Templates that the pods of engine and operator share. Each takes dict "root" . "component" "engine" "values" .Values.engine;
     "volumes" and "mounts" are text. */}}

{{/* Takes the number of the user. Meets the pod security standard "restricted", even if the namespace does not enforce it. */}}
{{- define "pergola.podSecurity" -}}
runAsNonRoot: true
{{- with int . }}
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "pergola.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Takes dict "default" YAML "values" a map. Returns the default with the members of the map instead of its own; a member that is null is
     left out. */}}
{{- define "pergola.replaced" -}}
{{- $all := fromYaml .default -}}
{{- range $name, $value := .values -}}
{{- if kindIs "invalid" $value -}}{{- $_ := unset $all $name -}}{{- else -}}{{- $_ := set $all $name $value -}}{{- end -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{/* Takes dict "component" "engine" "port" "http" "values" .Values.engine "startup" "/livez" "readiness" … "liveness" …: the paths. */}}
{{- define "pergola.probes" -}}
{{- $part := . -}}
{{- range $kind := list "startup" "readiness" "liveness" }}
{{- $default := printf "httpGet: {path: %s, port: %s}" (index $part $kind) $part.port }}
{{ $kind }}Probe:
  {{- include "pergola.replaced" (dict "default" $default "values" (index $part.values (printf "%sProbe" $kind))) | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* The strategy of a Deployment. Recreate has no settings of a rolling update, which the defaults may contain. */}}
{{- define "pergola.strategy" -}}
{{- $strategy := .strategy -}}
{{- if eq (default "" $strategy.type | toString) "Recreate" }}{{ $strategy = omit $strategy "rollingUpdate" }}{{ end -}}
{{- with $strategy -}}
strategy: {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* The name of the component's service account. Takes dict "root" . "component" "engine" "values" .Values.engine */}}
{{- define "pergola.account" -}}
{{ .values.serviceAccountName | default (printf "%s-%s" (include "pergola.fullname" .root) .component) }}
{{- end -}}

{{/* The component's service account, unless one is given. */}}
{{- define "pergola.createdAccount" -}}
{{- if not .values.serviceAccountName }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "pergola.account" . }}
  labels: {{- include "pergola.labels" . | nindent 4 }}
  {{- with .root.Values.serviceAccount.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- if eq .component "engine" }}
automountServiceAccountToken: false
{{- end }}
{{- end }}
{{- end -}}

{{- define "pergola.podMetadata" -}}
labels:
  {{- include "pergola.labels" . | nindent 2 }}
  {{- with .values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The shared part of a pod's spec: pull secrets, security context, scheduling, init containers and volumes. */}}
{{- define "pergola.placement" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- $default := include "pergola.podSecurity" .root.Values.runAsUser }}
securityContext:
  {{- include "pergola.replaced" (dict "default" $default "values" .values.podSecurityContext) | nindent 2 }}
{{- with .values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with .values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .values.dnsConfig }}
dnsConfig: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.hostAliases }}
hostAliases: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- $part := . }}
{{- with .values.topologySpread }}
{{- if .enabled }}
topologySpreadConstraints:
  {{- $when := .whenUnsatisfiable }}
  {{- range .topologyKeys }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ $when }}
    labelSelector:
      matchLabels: {{- include "pergola.selector" $part | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}
{{- with .values.initContainers }}
initContainers: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: {}
  {{- with .volumes }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with .values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The shared part of a container: envFrom, security context, resources and volume mounts. */}}
{{- define "pergola.container" -}}
{{- with .values.extraEnvFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
{{- $default := include "pergola.containerSecurity" . }}
securityContext:
  {{- include "pergola.replaced" (dict "default" $default "values" .values.containerSecurityContext) | nindent 2 }}
resources: {{- toYaml .values.resources | nindent 2 }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  {{- with .mounts }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with .values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* A PodDisruptionBudget, if the component can have more than one pod. */}}
{{- define "pergola.disruption" -}}
{{- if and .values.podDisruptionBudget.enabled (include "pergola.hasReplicas" .values) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ printf "%s-%s" (include "pergola.fullname" .root) .component }}
  labels: {{- include "pergola.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ .values.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels: {{- include "pergola.selector" . | nindent 6 }}
{{- end }}
{{- end -}}
