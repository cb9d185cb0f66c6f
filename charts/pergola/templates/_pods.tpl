{{/* What the pods of both programs share. Each takes dict "root" . "component" "engine" "values" .Values.engine. */}}

{{/* The pod security standard "restricted", whatever the namespace enforces. */}}
{{- define "pergola.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .user | default 1000 }}
runAsGroup: {{ .user | default 1000 }}
fsGroup: {{ .user | default 1000 }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "pergola.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
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

{{/* Everything of the pod's spec but its containers and volumes of our own. */}}
{{- define "pergola.placement" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {{- include "pergola.podSecurity" dict | nindent 2 }}
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
  {{- with .values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The end of the container: what it may do, what it gets, what it sees. */}}
{{- define "pergola.container" -}}
{{- with .values.extraEnvFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {{- include "pergola.containerSecurity" . | nindent 2 }}
resources: {{- toYaml .values.resources | nindent 2 }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  {{- with .values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* What may be evicted at once. */}}
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
