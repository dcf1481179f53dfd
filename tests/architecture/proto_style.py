"""The rules that buf calls STANDARD, as far as they concern these files, over a descriptor set."""

import re

LOWER_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*$")
UPPER_CAMEL = re.compile(r"([A-Z][a-z0-9]*)+$")


def upper_snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def enum_violations(enum, where):
    prefix = upper_snake(enum.name) + "_"
    for value in enum.value:
        if not value.name.startswith(prefix):
            yield f"{where}: {value.name} must begin with {prefix}"
        if value.number == 0 and value.name != prefix + "UNSPECIFIED":
            yield f"{where}: the zero of {enum.name} must be {prefix}UNSPECIFIED"


def message_violations(message, where):
    if not UPPER_CAMEL.match(message.name) and not message.options.map_entry:
        yield f"{where}: message {message.name} must be UpperCamel"
    for field in message.field:
        if not LOWER_SNAKE.match(field.name):
            yield f"{where}: field {message.name}.{field.name} must be lower_snake"
    for oneof in message.oneof_decl:
        # A proto3 optional has a oneof of its own, named after it.
        if not LOWER_SNAKE.match(oneof.name.lstrip("_")):
            yield f"{where}: oneof {message.name}.{oneof.name} must be lower_snake"
    for enum in message.enum_type:
        yield from enum_violations(enum, where)
    for nested in message.nested_type:
        yield from message_violations(nested, where)


def service_violations(service, where):
    if not service.name.endswith("Service"):
        yield f"{where}: service {service.name} must end with Service"
    for method in service.method:
        for kind, actual in (("Request", method.input_type), ("Response", method.output_type)):
            if actual.rsplit(".", 1)[-1] != method.name + kind:
                yield f"{where}: {method.name} must use {method.name}{kind}, uses {actual}"


def violations(descriptor_set, package):
    """Yields a line per violation in the files of `package`."""
    for file in descriptor_set.file:
        if file.package != package:
            continue
        if not re.search(r"\.v\d+$", file.package):
            yield f"{file.name}: package {file.package} must end with a version"
        if not file.name.startswith(file.package.replace(".", "/") + "/"):
            yield f"{file.name}: must lie in the folder of package {file.package}"
        if file.syntax != "proto3":
            yield f"{file.name}: must say proto3"
        for enum in file.enum_type:
            yield from enum_violations(enum, file.name)
        for message in file.message_type:
            yield from message_violations(message, file.name)
        for service in file.service:
            yield from service_violations(service, file.name)
