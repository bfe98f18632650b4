{
  description = "Remembers why code is the way it is, for people and coding agents";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forAllSystems = build: nixpkgs.lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});
      manifest = (nixpkgs.lib.importTOML ./Cargo.toml).workspace.package;
    in
    {
      packages = forAllSystems (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "git-chronicle";
          version = manifest.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [
            "--package"
            "git-chronicle"
          ];
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # The tests need a git with reftable, and repositories with a history.
          doCheck = false;
          postInstall = pkgs.lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
            export CHRONICLE_HOME="$TMPDIR/chronicle"
            "$out/bin/git-chronicle" man --install "$out/share/man"
            for shell in bash zsh fish; do
              "$out/bin/git-chronicle" completion "$shell" >"completion.$shell"
            done
            installShellCompletion --cmd git-chronicle \
              --bash completion.bash --zsh completion.zsh --fish completion.fish
          '';
          meta = {
            description = "Remembers why code is the way it is, for people and coding agents";
            license = with pkgs.lib.licenses; [
              mit
              asl20
            ];
            mainProgram = "git-chronicle";
          };
        };
      });
    };
}
