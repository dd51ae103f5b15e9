"""Prompts as data: one folder a version, never changed once it has been used.

    careful@1/prompt.json        id, description, changelog, parameters
              system.<zh|en>.txt what the model is told
              user.<zh|en>.txt   what surrounds the input; holds `{{input}}`
              examples.<zh|en>.json, where `system` holds `{{examples}}`

A changed wording is a new version in a new folder, so that recorded completions keep their meaning.
`wsmem.distill.prompting` loads and renders them; a folder of your own may stand anywhere.
"""
