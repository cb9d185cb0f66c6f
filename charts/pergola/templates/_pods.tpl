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
securityContext: {{- include "pergola.podSecurity" .root.Values.runAsUser | nindent 2 }}
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
securityContext: {{- include "pergola.containerSecurity" . | nindent 2 }}
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
