"""Rust, TypeScript and JavaScript, Go, Java, C and files without a parser: expectations worked out by hand."""

from __future__ import annotations

from textwrap import dedent

from code_driver import Project


def project(**files: str) -> Project:
    """Files by name, ``_`` for a slash and ``__`` for the dot before the suffix."""
    return Project({_path(name): dedent(text) for name, text in files.items()})


def _path(name: str) -> str:
    stem, _, suffix = name.rpartition("__")
    return f"{stem.replace('_', '/')}.{suffix}"


def edges(found: Project, *kinds: str) -> set[str]:
    return {f"{source} -{kind}-> {target}" for source, kind, target in found.edges(*kinds)}


# Rust


def test_rust_use_groups_aliases_globs_and_crate_paths_lead_to_functions() -> None:
    found = project(
        src_lib__rs="pub mod report; mod serve;\n",
        src_report__rs="pub fn build_report() {}\npub fn title() {}\npub fn hidden() {}\n",
        src_serve__rs="""
            use crate::report::{build_report, title as heading};
            fn page() { build_report(); heading(); crate::report::hidden(); self::local(); super::report::title(); }
            fn local() {}
            mod tests { use super::*; fn check() { page(); } }
        """,
    )
    assert edges(found, "calls") == {
        "src/serve.rs::page -calls-> src/report.rs::build_report",
        "src/serve.rs::page -calls-> src/report.rs::title",
        "src/serve.rs::page -calls-> src/report.rs::hidden",
        "src/serve.rs::page -calls-> src/serve.rs::local",
        "src/serve.rs::tests.check -calls-> src/serve.rs::page",
    }
    assert "file:src/serve.rs -imports-> src/report.rs::title" in edges(found, "imports")


def test_rust_methods_follow_types_through_fields_wrappers_and_impls_in_other_files() -> None:
    found = project(
        src_lib__rs="mod a; mod b;\n",
        src_a__rs="""
            pub struct Engine;
            pub struct Car { engine: Box<Engine>, spare: Option<Engine>, all: Vec<Engine> }
            impl Car {
                pub fn new() -> Self { Car { engine: Box::new(Engine), spare: None, all: vec![] } }
                fn drive(&self) { self.engine.start(); self.spare.as_ref().unwrap().stop(); }
                fn each(&self) { for e in self.all.iter() { e.start(); } self.all.iter().for_each(|e| e.stop()); }
            }
        """,
        src_b__rs="""
            use crate::a::{Car, Engine};
            impl Engine { pub fn start(&self) {} pub fn stop(&self) {} }
            fn main() { let car = Car::new(); car.drive(); assert_eq!(car.each(), ()); }
        """,
    )
    assert edges(found, "calls") == {
        "src/a.rs::Car.drive -calls-> src/b.rs::Engine.start",
        "src/a.rs::Car.drive -calls-> src/b.rs::Engine.stop",
        "src/a.rs::Car.each -calls-> src/b.rs::Engine.start",
        "src/a.rs::Car.each -calls-> src/b.rs::Engine.stop",
        "src/b.rs::main -calls-> src/a.rs::Car.new",
        "src/b.rs::main -calls-> src/a.rs::Car.drive",
        "src/b.rs::main -calls-> src/a.rs::Car.each",
    }


def test_rust_traits_are_implemented_and_dispatched() -> None:
    found = project(
        src_lib__rs="""
            pub trait Shape { fn area(&self) -> f64; fn show(&self) { self.area(); } }
            pub struct Square;
            impl Shape for Square { fn area(&self) -> f64 { helper(); 1.0 } }
            fn helper() {}
            fn total(shapes: &[Box<dyn Shape>]) { shapes[0].show(); }
            macro_rules! twice { ($x:expr) => { $x; $x } }
            fn go() { twice!(helper()); }
        """
    )
    assert edges(found, "implements") == {"src/lib.rs::Square -implements-> src/lib.rs::Shape"}
    assert edges(found, "calls") == {
        "src/lib.rs::Shape.show -calls-> src/lib.rs::Shape.area",
        "src/lib.rs::Shape.show -calls-> src/lib.rs::Square.area",
        "src/lib.rs::Square.area -calls-> src/lib.rs::helper",
        "src/lib.rs::total -calls-> src/lib.rs::Shape.show",
        "src/lib.rs::go -calls-> src/lib.rs::twice",
        "src/lib.rs::go -calls-> src/lib.rs::helper",
    }


def test_rust_names_in_comments_strings_and_definitions_are_no_calls() -> None:
    found = project(src_lib__rs='/// helper() does\nfn helper() {}\nfn main() { /* helper() */ let s = "helper()"; }\n')
    assert edges(found, "calls") == set()
    assert "src/lib.rs::main -uses-> src/lib.rs::helper" in edges(found, "uses")


# TypeScript and JavaScript


def test_typescript_classes_types_and_modules() -> None:
    found = project(
        lib_index__ts="export class Base { stop() {} }\nexport interface Shape { area(): number }\n",
        lib_barrel__ts="export { Base as Root } from './index';\nexport * from './index';\n",
        app__ts="""
            import { Root } from './lib/barrel';
            import type { Shape } from './lib';
            import * as lib from './lib/index.js';
            class Dep { go() {} }
            export class App extends Root implements Shape {
                items: Dep[] = [];
                constructor(private readonly dep: Dep) { super(); }
                area(): number { this.dep.go(); for (const i of this.items) i.go(); return 1; }
                later = () => this.stop();
                stop() { super.stop(); new lib.Base().stop(); }
            }
            const make = (): App => new App(null as any);
            make().area();
        """,
    )
    assert edges(found, "calls") == {
        "app.ts::App.area -calls-> app.ts::Dep.go",
        "app.ts::App.later -calls-> app.ts::App.stop",
        "app.ts::App.stop -calls-> lib/index.ts::Base.stop",
        "app.ts::make -calls-> app.ts::App.constructor",
        "file:app.ts -calls-> app.ts::make",
        "file:app.ts -calls-> app.ts::App.area",
    }
    assert edges(found, "inherits", "implements") == {
        "app.ts::App -inherits-> lib/index.ts::Base",
        "app.ts::App -implements-> lib/index.ts::Shape",
    }


def test_javascript_common_js_defaults_and_callbacks() -> None:
    found = project(
        lib__js="function go() {}\nfunction run(cb) { cb(); }\nmodule.exports = { go, run };\n",
        esm__mjs="export default function hello() {}\n",
        app__js="""
            const { go } = require('./lib');
            const lib = require('./lib');
            import hi from './esm.mjs';
            function mine() {}
            function main() { go(); lib.run(mine); hi(); [1].forEach(x => mine(x)); }
        """,
    )
    assert edges(found, "calls") == {
        "app.js::main -calls-> lib.js::go",
        "app.js::main -calls-> lib.js::run",
        "app.js::main -calls-> esm.mjs::hello",
        "app.js::main -calls-> app.js::mine",
        "lib.js::run -calls-> app.js::mine",
    }


# Go


def test_go_packages_are_folders_and_methods_follow_types() -> None:
    found = project(
        store_db__go="""
            package store
            type DB struct { conn *Conn }
            type Conn struct{}
            type Writer interface { Write(p []byte) error }
            func Open() (*DB, error) { return &DB{}, nil }
            func (d *DB) Query() { d.conn.send(); check() }
        """,
        logs_say__go="package logs\nfunc Say() {}\n",
        store_conn__go="package store\nfunc (c *Conn) send() {}\nfunc check() {}\n",
        cmd_main__go="""
            package main
            import "example.com/app/store"
            import "app/logs"
            type App struct { *store.DB; out store.Writer }
            func main() {
                db, err := store.Open()
                logs.Say()
                db.Query()
                app := App{}
                app.Query()
                app.out.Write(nil)
                go func() { db.Query() }()
            }
        """,
    )
    assert edges(found, "calls") == {
        "store/db.go::DB.Query -calls-> store/conn.go::Conn.send",
        "store/db.go::DB.Query -calls-> store/conn.go::check",
        "cmd/main.go::main -calls-> store/db.go::Open",
        "cmd/main.go::main -calls-> logs/say.go::Say",
        "cmd/main.go::main -calls-> store/db.go::DB.Query",
        "cmd/main.go::main -calls-> store/db.go::Writer.Write",
    }
    assert edges(found, "inherits") == {"cmd/main.go::App -inherits-> store/db.go::DB"}
    assert "file:cmd/main.go -imports-> file:store/db.go" in edges(found, "imports")


# Java


def test_java_packages_overloads_inheritance_and_generics() -> None:
    found = project(
        com_lib_Foo__java="""
            package com.lib;
            public class Foo {
                public Foo(int a) {}
                public Foo go() { return this; }
                public static Foo make() { return null; }
            }
        """,
        com_lib_Shape__java="package com.lib;\npublic interface Shape { void area(); }\n",
        com_app_Base__java="package com.app;\nclass Base { void open() {} void shut() {} }\n",
        com_app_App__java="""
            package com.app;
            import com.lib.*;
            import static com.lib.Foo.make;
            public class App extends Base implements Shape {
                private final Foo foo = new Foo(1);
                List<Foo> items;
                public void area() {
                    foo.go().go();
                    for (Foo i : items) { i.go(); }
                    items.forEach(i -> i.go());
                    make();
                    open();
                    help(1);
                    super.shut();
                }
                void help() {}
                void help(int a) {}
            }
        """,
    )
    assert edges(found, "calls") == {
        "com/app/App.java::App -calls-> com/lib/Foo.java::Foo.Foo",
        "com/app/App.java::App.area -calls-> com/lib/Foo.java::Foo.go",
        "com/app/App.java::App.area -calls-> com/lib/Foo.java::Foo.make",
        "com/app/App.java::App.area -calls-> com/app/Base.java::Base.open",
        "com/app/App.java::App.area -calls-> com/app/Base.java::Base.shut",
        "com/app/App.java::App.area -calls-> com/app/App.java::App.help#L18",
    }
    assert edges(found, "inherits", "implements") == {
        "com/app/App.java::App -inherits-> com/app/Base.java::Base",
        "com/app/App.java::App -implements-> com/lib/Shape.java::Shape",
    }


# C, C++ and the rest


def test_c_and_cpp_calls_are_by_name() -> None:
    found = project(
        a__c="""
            int helper(int x) { return x; }
            int main() { /* helper */ return helper(1) + local(2); }
            static int local(int a) { return a; }
        """,
        b__cpp="""
            class A { public: void run() { helper(1); this->stop(); } void stop(); };
            void A::stop() { A a; a.run(); }
        """,
    )
    assert edges(found, "calls") == {
        "a.c::main -calls-> a.c::helper",
        "a.c::main -calls-> a.c::local",
        "b.cpp::A.run -calls-> a.c::helper",
        "b.cpp::A.run -calls-> b.cpp::A.stop",
        "b.cpp::A.stop -calls-> b.cpp::A.run",
    }


def test_a_language_without_a_parser_has_symbols_and_the_call_site_rule() -> None:
    found = project(
        a__rb="# greet(1) is a comment\ndef greet(x)\n  puts('greet(2)')\nend\n\ndef main\n  greet(3)\nend\n",
        b__kt="fun shout(x: Int) { /* whisper() */ whisper(x) }\nfun whisper(x: Int) = 1\n",
    )
    assert edges(found, "calls") == {"a.rb::main -calls-> a.rb::greet", "b.kt::shout -calls-> b.kt::whisper"}
    assert found.nodes()["symbol:a.rb::greet"].props["line"] == 2


def test_symbols_of_other_languages_are_not_called() -> None:
    found = project(a__py="def helper(): pass\n", b__js="function main() { helper(); }\n")
    assert edges(found, "calls") == set()
    assert edges(found, "uses") == {"b.js::main -uses-> a.py::helper"}
